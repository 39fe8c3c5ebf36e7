package undo

import (
	"slices"
	"strings"

	"car/internal/engine/ir"
)

// Step is what undoing would do with one path.
type Step struct {
	Path string
	// Verdict says whether the path can go back.
	Verdict Verdict
	// To is what would stand there; From is what must stand there now.
	From, To State
	// Reason is why a path stays as it is.
	Reason string
}

// Verdict is a step's kind.
type Verdict uint8

// The verdicts. Conflict is a path that somebody else changed since; Already is
// one that is as it was before.
const (
	Restore Verdict = iota
	Already
	Conflict
	Unavailable
)

var verdictWords = [...]string{"restore", "already", "conflict", "unavailable"}

// String is the word for a listing.
func (v Verdict) String() string { return verdictWords[v] }

// Select chooses changes.
type Select func(c Change) bool

// OfTurn chooses a turn's changes.
func OfTurn(turn int) Select { return func(c Change) bool { return c.Turn == turn } }

// OfProposal chooses a proposal's changes.
func OfProposal(id ir.ProposalID) Select { return func(c Change) bool { return c.Proposal == id } }

// Newest is the turn to take back next: for an undo the newest of the
// conversation's own turns that still stands, for a redo the newest turn that
// undid one and still stands. An undo that was cut halfway counts as nothing, so
// that the next one finishes it.
func (j *Journal) Newest(redo bool) (turn int, found bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if redo {
		for _, m := range slices.Backward(j.marks) {
			if m.Undone >= 0 && !j.undone(m.By) {
				return m.By, true
			}
		}
		return 0, false
	}
	for _, c := range slices.Backward(j.changes) {
		if !c.Failed && c.Turn >= 0 && !j.undone(c.Turn) {
			return c.Turn, true
		}
	}
	return 0, false
}

// undone reports a turn that is taken back, by one that is not itself. The caller holds mu.
func (j *Journal) undone(turn int) bool {
	return slices.ContainsFunc(j.marks, func(m Mark) bool { return m.Undone == turn && !j.undone(m.By) })
}

// Known reports whether a turn changed files.
func (j *Journal) Known(turn int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.ContainsFunc(j.changes, func(c Change) bool { return c.Turn == turn && !c.Failed })
}

// NextUndo is the number of the next turn that undoes. They count down from -1, so
// that they never meet a conversation's own.
func (j *Journal) NextUndo() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	least := 0
	for _, c := range j.changes {
		least = min(least, c.Turn)
	}
	return least - 1
}

// Plan says what taking the selected changes back would do, by what stands at
// each path now. Files come before the folders that held them, deepest first.
func (j *Journal) Plan(s Select, now func(path string) (State, error)) ([]Step, error) {
	j.mu.Lock()
	chosen := slices.DeleteFunc(slices.Clone(j.changes), func(c Change) bool { return c.Failed || !s(c) })
	j.mu.Unlock()
	var steps []Step
	for _, path := range paths(chosen) {
		state, err := now(path)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step(path, chosen, state))
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return depth(b) - depth(a) })
	return steps, nil
}

// depth orders removals: what is deep goes first, so that folders are empty when their turn comes.
func depth(s Step) int { return strings.Count(s.Path, "/") }

func paths(changes []Change) []string {
	var list []string
	for _, c := range changes {
		if !slices.Contains(list, c.Path) {
			list = append(list, c.Path)
		}
	}
	return list
}

// step judges one path: from what its last change left to what its first found.
func step(path string, changes []Change, now State) Step {
	mine := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Path != path })
	first, last := mine[0], mine[len(mine)-1]
	s := Step{Path: path, To: first.Before, From: now}
	switch {
	case now.Same(first.Before):
		s.Verdict = Already
	case first.Unavailable != "":
		s.Verdict, s.Reason = Unavailable, "its content before was not kept: "+first.Unavailable
	case last.After == nil:
		s.Verdict, s.Reason = Conflict, "a change of it was cut by a crash"
	case !now.Same(*last.After):
		s.Verdict, s.Reason = Conflict, "changed since by somebody else"
	case now.Kind != File && now.Kind != Dir && now.Kind != Absent:
		s.Verdict, s.Reason = Unavailable, "it is a link or a special file now, which nobody but you takes away"
	}
	return s
}
