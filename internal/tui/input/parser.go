package input

import (
	"bytes"
	"strconv"
	"strings"
)

// Event is one of what a terminal sends: keys to be read on, a whole paste, or an
// answer. Exactly one field is set.
type Event struct {
	Keys  []byte
	Paste *string
	// Background is the answer to the question for the background colour, "rgb:…".
	Background string
	// Attributes says that the terminal answered who it is, which it does after
	// everything that was asked before.
	Attributes bool
}

const (
	esc       = 0x1b
	interrupt = 0x03 // ctrl+c
)

var (
	pasteStart = []byte("\x1b[200~")
	pasteEnd   = []byte("\x1b[201~")
)

// Parser cuts the terminal's bytes into events. The zero value is ready.
type Parser struct {
	rest    []byte // not understood yet
	pasting bool
	scanned int // how much of a paste is known to hold no end marker
	waited  int // calls of Idle since rest last grew
	// alone says that the newest byte is a key a person presses to get out, and came
	// by itself after a long silence in a paste.
	alone bool
}

// silence is how many calls of Idle in a row mean that a paste has stopped coming.
const silence = 10

// Feed takes bytes and returns the events that are complete.
func (p *Parser) Feed(b []byte) []Event {
	p.alone = p.pasting && p.waited >= silence && len(b) == 1 && (b[0] == esc || b[0] == interrupt)
	p.rest = append(p.rest, b...)
	p.waited = 0
	return p.parse(false)
}

// Idle tells the parser that nothing came for a moment: what could still have been
// continued is complete now.
func (p *Parser) Idle() []Event {
	p.waited++
	return p.parse(true)
}

// Pending reports whether Idle has something to do.
func (p *Parser) Pending() bool { return p.pasting || len(p.rest) > 0 }

func (p *Parser) parse(idle bool) []Event {
	var out []Event
	var keys []byte
	flush := func() {
		if len(keys) > 0 {
			out = append(out, Event{Keys: keys})
			keys = nil
		}
	}
	for len(p.rest) > 0 {
		if p.pasting {
			text, n, ok := p.paste(idle)
			if !ok {
				text, n, ok = p.abandoned(idle)
			}
			if !ok {
				break
			}
			flush()
			out = append(out, Event{Paste: &text})
			p.rest, p.pasting, p.scanned = p.rest[n:], false, 0
			continue
		}
		n, complete := sequence(p.rest)
		if !complete && !(idle && p.giveUp()) {
			break
		}
		seq := p.rest[:n]
		p.rest = p.rest[n:]
		switch e, kind := classify(seq, complete); kind {
		case startsPaste:
			p.pasting = true
		case answers:
			flush()
			out = append(out, e)
		case isKey:
			keys = append(keys, e.Keys...)
		}
	}
	flush()
	if len(p.rest) == 0 {
		p.rest = nil
	}
	return out
}

// giveUp decides about an incomplete sequence when nothing more comes: it was keys,
// such as escape. An answer that has begun gets some time more, because it would be
// typed into the input otherwise.
func (p *Parser) giveUp() bool {
	const patience = 20
	return !isString(p.rest) || p.waited > patience
}

// paste looks for the end of the paste that rest begins with. An end marker counts
// when nothing follows it, or a new paste does: a marker in the midst of what
// arrives at once was part of the text.
func (p *Parser) paste(idle bool) (text string, n int, ok bool) {
	end := bytes.Index(p.rest[p.scanned:], pasteEnd)
	if end < 0 {
		p.scanned = max(len(p.rest)-len(pasteEnd), 0)
		return "", 0, false
	}
	p.scanned += end
	end = p.scanned
	if next := bytes.Index(p.rest[end:], pasteStart); next >= 0 {
		if last := bytes.LastIndex(p.rest[:end+next], pasteEnd); last >= 0 {
			return string(p.rest[:last]), last + len(pasteEnd), true
		}
	}
	if !idle {
		return "", 0, false
	}
	last := bytes.LastIndex(p.rest, pasteEnd)
	return string(p.rest[:last]), last + len(pasteEnd), true
}

// abandoned ends a paste whose end marker never came, when a person waits and presses
// escape or ctrl+c: the text so far is the paste, and the key is a key (B071).
func (p *Parser) abandoned(idle bool) (text string, n int, ok bool) {
	if !idle || !p.alone || p.waited < silence {
		return "", 0, false
	}
	n = len(p.rest) - 1
	return string(p.rest[:n]), n, true
}

// sequence returns the length of the key or sequence at the head of b and whether it
// is all there.
func sequence(b []byte) (n int, complete bool) {
	if b[0] != esc {
		n = bytes.IndexByte(b, esc)
		if n < 0 {
			n = len(b)
		}
		return n, true
	}
	if len(b) == 1 {
		return 1, false
	}
	switch b[1] {
	case '[':
		for i := 2; i < len(b); i++ {
			if b[i] >= 0x40 && b[i] <= 0x7e {
				return i + 1, true
			}
			if b[i] < 0x20 {
				return i, true // cut short by a control character
			}
		}
		return len(b), false
	case 'O':
		return min(3, len(b)), len(b) >= 3
	case ']':
		return terminated(b)
	case 'P', '_':
		switch {
		case len(b) == 2:
			return 2, false
		case isString(b):
			return terminated(b)
		}
		return 2, true // with alt
	case esc:
		return 1, true // escape twice, or escape before a sequence
	default:
		return 2, true
	}
}

// isString reports whether b begins an answer that goes on to a terminator: any OSC,
// a DCS that terminals answer with (DECRPSS, XTGETTCAP, XTVERSION), or kitty's APC.
// What else begins so is a key with alt.
func isString(b []byte) bool {
	if len(b) < 3 {
		return false
	}
	switch b[1] {
	case ']':
		return true
	case 'P':
		return bytes.IndexByte([]byte("0123456789>!$+;|"), b[2]) >= 0
	case '_':
		return b[2] == 'G'
	}
	return false
}

// terminated returns the length of a string sequence with its end, BEL or ST.
func terminated(b []byte) (n int, complete bool) {
	for i := 2; i < len(b); i++ {
		if b[i] == 0x07 || b[i] == '\\' && b[i-1] == esc {
			return i + 1, true
		}
	}
	return len(b), false
}

type kind uint8

const (
	isKey kind = iota
	startsPaste
	answers
	isNothing
)

func classify(seq []byte, complete bool) (Event, kind) {
	switch {
	case bytes.Equal(seq, pasteStart):
		return Event{}, startsPaste
	case bytes.Equal(seq, pasteEnd):
		return Event{}, isNothing // without a start it closes nothing
	case isString(seq):
		if colour, ok := strings.CutPrefix(strings.TrimRight(string(seq), "\x07\x1b\\"), "\x1b]11;"); ok && complete {
			return Event{Background: colour}, answers
		}
		return Event{}, isNothing // no key begins so
	case bytes.HasPrefix(seq, []byte("\x1b[?")) && seq[len(seq)-1] == 'c':
		return Event{Attributes: true}, answers
	case bytes.HasPrefix(seq, []byte("\x1b[")) && len(seq) > 2: // alone it is alt and the bracket
		return Event{Keys: modified(seq)}, isKey
	}
	return Event{Keys: seq}, isKey
}

// modified turns the two ways in which terminals tell keys with modifiers apart into
// what Bubble Tea knows; other sequences stay.
func modified(seq []byte) []byte {
	body, final := string(seq[2:len(seq)-1]), seq[len(seq)-1]
	fields := strings.Split(body, ";")
	var code, mod int
	var err1, err2 error
	switch {
	case final == '~' && len(fields) == 3 && fields[0] == "27": // xterm's modifyOtherKeys
		mod, err1 = strconv.Atoi(fields[1])
		code, err2 = strconv.Atoi(fields[2])
	case final == 'u' && len(fields) == 2:
		code, err1 = strconv.Atoi(fields[0])
		mod, err2 = strconv.Atoi(fields[1])
	default:
		return seq
	}
	if err1 != nil || err2 != nil || code <= 0 || code > 0x10ffff || mod < 1 {
		return seq
	}
	return keyWith(rune(code), mod-1)
}

func keyWith(r rune, mod int) []byte {
	const shift, alt, ctrl = 1, 2, 4
	var out []byte
	if mod&alt != 0 {
		out = append(out, 0x1b)
	}
	switch {
	case r == '\r' && mod&(shift|ctrl) != 0:
		return []byte{'\n'} // a new line in the text
	case mod&ctrl != 0 && (r >= 'a' && r <= 'z' || r >= '@' && r <= '_'):
		return append(out, byte(r)&0x1f)
	default:
		return append(out, string(r)...)
	}
}
