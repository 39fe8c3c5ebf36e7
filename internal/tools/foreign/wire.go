package foreign

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxWire is the longest name that every provider takes.
const maxWire = 64

// Wire is a name that every provider accepts: [A-Za-z0-9_-]{1,64}. It is total,
// since one bad name makes a provider refuse the whole request (T-SET-5).
func Wire(name string) string {
	s := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if s == "" || len(s) > maxWire {
		return hashed(s, name)
	}
	return s
}

// hashed keeps head and tail of a name around a hash of what it stood for.
func hashed(s, name string) string {
	sum := sha256.Sum256([]byte(name))
	mark := "_" + hex.EncodeToString(sum[:4]) + "_"
	keep := (maxWire - len(mark)) / 2
	return s[:min(keep, len(s)/2)] + mark + s[len(s)-min(keep, len(s)/2):]
}

// Table says whose a name is, and what it is called on the wire. The zero value is
// empty. Not safe for concurrent use while names are added.
type Table struct {
	owners map[string]string
	wire   map[string]string
	back   map[string]string
}

// Add takes a name for an owner and answers its name on the wire. A name that
// somebody has is an error that names both (T-SET-6).
func (t *Table) Add(name, owner string) (string, error) {
	if t.owners == nil {
		t.owners, t.wire, t.back = map[string]string{}, map[string]string{}, map[string]string{}
	}
	if other, taken := t.owners[name]; taken {
		return "", fmt.Errorf("tool %q of %s has the name of a tool of %s; rename one of them", name, owner, other)
	}
	wire := Wire(name)
	if _, taken := t.back[wire]; taken {
		wire = hashed(wire, name)
	}
	if other, taken := t.back[wire]; taken {
		return "", fmt.Errorf("tool %q of %s and %q of %s are both %q on the wire; rename one of them", name, owner, other, t.owners[other], wire)
	}
	t.owners[name], t.wire[name], t.back[wire] = owner, wire, name
	return wire, nil
}

// Name is the name behind one on the wire.
func (t *Table) Name(wire string) (string, bool) {
	name, ok := t.back[wire]
	return name, ok
}
