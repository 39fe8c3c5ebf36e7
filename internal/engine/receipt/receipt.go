package receipt

import (
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

// Receipt is a call that ran (E-RCPT-1).
type Receipt struct {
	Tool string `json:"tool"`
	// CallID is the action's id.
	CallID ir.ActionID `json:"call_id"`
	// OK is success, with exit code 0 where there is one; a call that failed ran too.
	OK bool `json:"ok"`
	// ResultCount is how much it found; nil where the tool does not count.
	ResultCount *int `json:"result_count,omitempty"`
	// Reused is an earlier result given again: nothing ran a second time.
	Reused bool `json:"reused,omitempty"`
}

// Scope is whose receipts are looked at; what is empty does not narrow it.
type Scope struct {
	Proposal ir.ProposalID
	Run      string
}

func (s Scope) has(e *eventlog.Event) bool {
	return (s.Proposal == "" || e.ProposalID == s.Proposal) && (s.Run == "" || e.RunID == s.Run)
}

// Of reads the receipts of a scope from events, in their order.
func Of(events []eventlog.Event, s Scope) []Receipt {
	var found []Receipt
	for i := range events {
		if e := &events[i]; s.has(e) {
			if r, ok := of(e); ok {
				found = append(found, r)
			}
		}
	}
	return found
}

func of(e *eventlog.Event) (Receipt, bool) {
	r := Receipt{CallID: e.ActionID}
	r.Tool, _ = e.Data["tool"].(string)
	if r.Tool == "" || e.ActionID == "" {
		return r, false
	}
	attempted, _ := e.Data["attempted"].(bool)
	switch e.Kind {
	case eventlog.ActionSucceeded:
		r.OK, _ = e.Data["ok"].(bool)
		r.Reused = !attempted
	case eventlog.ActionDeduplicated:
		r.OK, r.Reused = true, true
	case eventlog.ActionFailed, eventlog.ActionSkipped:
		if !attempted {
			return r, false
		}
	default:
		return r, false
	}
	if n, ok := e.Data["result_count"].(float64); ok {
		count := int(n)
		r.ResultCount = &count
	}
	return r, true
}

// Complete reports whether a log still has every receipt of a scope (E-RCPT-2):
// nothing was dropped from it, or the proposal's own beginning is there, which
// stands before all its receipts. trimmed is what the log's owner knows of it.
func Complete(events []eventlog.Event, trimmed bool, s Scope) bool {
	if !trimmed {
		return true
	}
	if s.Proposal == "" {
		return false
	}
	for i := range events {
		if events[i].Kind == eventlog.ProposalReceived && events[i].ProposalID == s.Proposal {
			return true
		}
	}
	return false
}
