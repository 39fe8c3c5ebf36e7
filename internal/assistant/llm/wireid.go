package llm

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
)

// WireIDs decides what each call of a conversation is called in a request to the
// named provider: from ToolCall.ID to the id on the wire. A provider's own id is
// kept; one that is missing, ill-formed, used before, or another provider's,
// becomes nine alphanumerics derived from ToolCall.ID, which every provider takes
// (A-LOOP-4). The same conversation always gives the same ids.
func WireIDs(messages []Message, provider string) map[string]string {
	ids := map[string]string{}
	used := map[string]bool{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind != PartToolCall || p.Call == nil {
				continue
			}
			id := p.Call.ProviderID
			if p.Origin.Provider != provider || !wellFormedID(id) || used[id] {
				id = derivedID(p.Call.ID, used)
			}
			used[id] = true
			ids[p.Call.ID] = id
		}
	}
	return ids
}

// wellFormedID reports whether every provider accepts the characters of an id.
func wellFormedID(id string) bool {
	if len(id) == 0 || len(id) > 64 {
		return false
	}
	for _, c := range []byte(id) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// derivedID hashes a call id until the result is free; the first one nearly always is.
func derivedID(callID string, used map[string]bool) string {
	const space = 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36 * 36
	for n := 0; ; n++ {
		sum := sha256.Sum256([]byte(strconv.Itoa(n) + "/" + callID))
		text := strconv.FormatUint(binary.BigEndian.Uint64(sum[:8])%space, 36)
		id := "000000000"[len(text):] + text
		if !used[id] {
			return id
		}
	}
}
