package engine

import (
	"errors"
	"slices"

	"car/internal/engine/eventlog"
	"car/internal/engine/receipt"
)

// readableLog is a log that can also be looked into. *eventlog.Log is one.
type readableLog interface {
	Query(q eventlog.Query) []eventlog.Event
	Trimmed() bool
}

// errUnreadableLog is a Config.Log that only takes events.
var errUnreadableLog = errors.New("engine: Config.Log cannot be read")

// readLog is the log's events, oldest first, and whether older ones are gone.
func (r *Runtime) readLog(q eventlog.Query) ([]eventlog.Event, bool, error) {
	log, ok := r.cfg.Log.(readableLog)
	if !ok {
		return nil, false, errUnreadableLog
	}
	trimmed := log.Trimmed() // before the events, which may be trimmed meanwhile
	events := log.Query(q)
	slices.Reverse(events)
	return events, trimmed || log.Trimmed(), nil
}

// VerifyClaims compares what somebody says was called with the receipts of a
// proposal or run (E-RCPT). A report that is not grounded leaves one event.
func (r *Runtime) VerifyClaims(claims []receipt.Claim, s receipt.Scope) (receipt.Report, error) {
	events, trimmed, err := r.readLog(eventlog.Query{ProposalID: s.Proposal})
	if err != nil {
		return receipt.Report{}, err
	}
	report := receipt.Verify(claims, receipt.Of(events, s), receipt.Complete(events, trimmed, s))
	if report.Grounded {
		return report, nil
	}
	_, err = r.cfg.Log.Append(eventlog.Event{Kind: eventlog.ToolReceiptHallucination, ProposalID: s.Proposal, RunID: s.Run, Data: map[string]any{
		"count": float64(len(report.Hallucinations)), "hallucinations": jsonValue(report.Hallucinations),
	}})
	return report, err
}
