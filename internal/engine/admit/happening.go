package admit

import (
	"fmt"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// Phase says which moment of an action a Happening is. The zero value is unset.
type Phase uint8

// The phases: an attempt starts; an action has ended and has its result; the state
// it wrote is kept for good.
const (
	PhaseUnset Phase = iota
	Started
	Ended
	Kept
)

// Happening is something that an action did, for gates that remember.
type Happening struct {
	Phase    Phase
	Session  string
	Tenant   string
	Proposal ir.ProposalID
	Action   ir.Action
	// Judgement is policy's, with the places and programs of the action.
	Judgement policy.Judgement
	Source    ir.ToolSource
	// Status and Output belong to an end. Reused says that an earlier result answered,
	// so nothing ran.
	Status ir.Status
	Output any
	Reused bool
	// Wrote are the state keys it wrote, as the store names them; Key is where the
	// store keeps one that the action names, nil where they are the same.
	Wrote []string
	Key   func(key string) string
}

// Witness is a Gate that remembers what happened (E-PIPE-4). It is told of every
// start and end of what was not refused, in their order, and must not block. A
// Warden learns of a start by Enter alone, unless a record tells of it.
type Witness interface {
	Gate
	Happened(h Happening)
}

// Warden is a Gate that also judges each action in its turn, against what has
// happened by then (G-TRACE-2). Both methods list what speaks against the action.
type Warden interface {
	Gate
	// Would changes nothing; it is asked before anybody is.
	Would(h Happening) []policy.Violation
	// Enter is the last word before the hand moves. Where nothing speaks against the
	// action it notes the start in the same step, so that of two actions that compete
	// for one last place one gets it.
	Enter(h Happening) []policy.Violation
}

// Happening describes the action at index i in a phase.
func (a *Admission) Happening(i int, p Phase) Happening {
	it := &a.items[i]
	return Happening{Phase: p, Session: a.opts.Session, Tenant: a.opts.Tenant, Proposal: a.proposal.ID, Action: it.action,
		Judgement: it.judgement, Source: a.Source(i), Key: func(key string) string { return a.key(it.action, key) }}
}

// Tell passes on what happened to the gates that remember.
func (a *Admitter) Tell(h Happening) {
	for _, g := range a.inForce() {
		if w, ok := g.(Witness); ok {
			w.Happened(h)
		}
	}
}

// Remembers reports whether a gate in force wants to be told.
func (a *Admitter) Remembers() bool {
	for _, g := range a.inForce() {
		if _, ok := g.(Witness); ok {
			return true
		}
	}
	return false
}

// would asks the wardens about an action in its turn. One that panics denies.
func (a *Admitter) would(h Happening) []policy.Violation {
	var found []policy.Violation
	for _, g := range a.inForce() {
		if w, ok := g.(Warden); ok {
			found = append(found, ask(g.Name(), h, w.Would)...)
		}
	}
	return found
}

// Enter is the last word before the hand moves: every warden judges once more, and
// every witness learns that the action starts. An error refuses it.
func (a *Admitter) Enter(g Grant) error {
	h := Happening{Phase: Started, Session: g.Call.Session, Tenant: g.Call.Tenant, Proposal: g.Proposal, Action: g.Action, Judgement: g.Judgement, Source: g.Source}
	gates := a.inForce()
	for _, one := range gates {
		w, ok := one.(Warden)
		if !ok {
			continue
		}
		if v := ask(one.Name(), h, w.Enter); len(v) > 0 {
			return fmt.Errorf("%s", policyRejection(policy.Judgement{Violations: v}).Reason)
		}
	}
	for _, one := range gates {
		_, told := one.(Warden)
		if w, ok := one.(Witness); ok && !told {
			w.Happened(h)
		}
	}
	return nil
}

func ask(name string, h Happening, question func(Happening) []policy.Violation) (found []policy.Violation) {
	defer func() {
		if p := recover(); p != nil {
			found = []policy.Violation{{PolicyName: name, ActionID: h.Action.ID, Reason: fmt.Sprintf("gate panicked: %v", p)}}
		}
	}()
	return question(h)
}
