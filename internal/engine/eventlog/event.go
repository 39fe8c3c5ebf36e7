package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"car/internal/engine/ir"
)

// Event is one record (E-LOG-1). Append assigns Seq, Timestamp and the hashes.
type Event struct {
	// Seq counts from 1 and grows by one with every event of a log.
	Seq      uint64 `json:"seq"`
	Kind     Kind   `json:"kind"`
	RunID    string `json:"run_id,omitempty"`
	ClientID string `json:"client_id,omitempty"`
	// PolicySessionID is minted by the engine, never taken from a caller.
	PolicySessionID string        `json:"policy_session_id,omitempty"`
	ActionID        ir.ActionID   `json:"action_id,omitempty"`
	ProposalID      ir.ProposalID `json:"proposal_id,omitempty"`
	// Data is decoded JSON: nil, bool, float64, string, []any, map[string]any. In an
	// event that came out of a log it is redacted, shared and not to be changed.
	Data      map[string]any `json:"data"`
	Timestamp time.Time      `json:"timestamp"`
	// PrevHash and Hash are empty where the log is not chained (E-LOG-6).
	PrevHash string `json:"prev_hash,omitempty"`
	Hash     string `json:"hash,omitempty"`
}

// lineOf is an event as one line of JSON with its newline. <, > and & stand as
// they are, so that commands can be searched for as they were typed.
func lineOf(e *Event) ([]byte, error) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	return line.Bytes(), nil
}

// decodeEvent reads one record. Members it does not know are left to a newer
// reader; the chain covers them all the same.
func decodeEvent(line []byte) (Event, error) {
	found, err := split(line)
	if err != nil {
		return Event{}, err
	}
	return eventOf(found)
}

func eventOf(found []member) (Event, error) {
	var e Event
	for _, m := range found {
		if err := e.read(m); err != nil {
			return Event{}, fmt.Errorf("member %q: %w", m.name, err)
		}
	}
	if e.Seq == 0 || e.Kind == KindUnset {
		return Event{}, errors.New("seq or kind is missing")
	}
	return e, nil
}

func (e *Event) read(m member) error {
	switch m.name {
	case "seq":
		return json.Unmarshal(m.raw, &e.Seq)
	case "kind":
		return readText(m.raw, func(s string) (err error) { e.Kind, err = ParseKind(s); return err })
	case "run_id":
		return readText(m.raw, func(s string) error { e.RunID = s; return nil })
	case "client_id":
		return readText(m.raw, func(s string) error { e.ClientID = s; return nil })
	case "policy_session_id":
		return readText(m.raw, func(s string) error { e.PolicySessionID = s; return nil })
	case "action_id":
		return readText(m.raw, func(s string) error { e.ActionID = ir.ActionID(s); return nil })
	case "proposal_id":
		return readText(m.raw, func(s string) error { e.ProposalID = ir.ProposalID(s); return nil })
	case "data":
		return json.Unmarshal(m.raw, &e.Data)
	case "timestamp":
		return readText(m.raw, func(s string) error { return e.Timestamp.UnmarshalText([]byte(s)) })
	case "prev_hash":
		return readText(m.raw, func(s string) error { e.PrevHash = s; return nil })
	case "hash":
		return readText(m.raw, func(s string) error { e.Hash = s; return nil })
	}
	return nil
}

func readText(raw []byte, use func(string) error) error {
	s, err := unquote(raw)
	if err != nil {
		return err
	}
	return use(s)
}
