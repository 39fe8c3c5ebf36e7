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

// maxLine bounds one record on disk, so that no file makes a reader hold it all.
const maxLine = 64 << 20

// members splits a record into its members. A name that stands twice is an error:
// two readers could take different ones.
func members(line []byte) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	found := make(map[string]json.RawMessage, 12)
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, err
		}
		if _, dup := found[fmt.Sprint(name)]; dup {
			return nil, fmt.Errorf("member %q stands twice", name)
		}
		found[fmt.Sprint(name)] = raw
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if rest := bytes.TrimSpace(line[dec.InputOffset():]); len(rest) > 0 {
		return nil, errors.New("text after the JSON object")
	}
	return found, nil
}

// decodeEvent reads one record. Members it does not know are left to a newer
// reader; the chain covers them all the same.
func decodeEvent(line []byte) (Event, error) {
	found, err := members(line)
	if err != nil {
		return Event{}, err
	}
	return eventOf(found)
}

func eventOf(found map[string]json.RawMessage) (Event, error) {
	var e Event
	fields := [...]struct {
		name string
		into any
	}{
		{"seq", &e.Seq}, {"kind", &e.Kind}, {"run_id", &e.RunID}, {"client_id", &e.ClientID},
		{"policy_session_id", &e.PolicySessionID}, {"action_id", &e.ActionID}, {"proposal_id", &e.ProposalID},
		{"data", &e.Data}, {"timestamp", &e.Timestamp}, {"prev_hash", &e.PrevHash}, {"hash", &e.Hash},
	}
	for _, f := range fields {
		raw, ok := found[f.name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(raw, f.into); err != nil {
			return Event{}, fmt.Errorf("member %q: %w", f.name, err)
		}
	}
	if e.Seq == 0 || e.Kind == KindUnset {
		return Event{}, errors.New("seq or kind is missing")
	}
	return e, nil
}
