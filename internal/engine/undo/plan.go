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

// Turns lists the turns that changed files, newest first.
func (j *Journal) Turns() []int {
	j.mu.Lock()
	defer j.mu.Unlock()
	var turns []int
	for _, c := range slices.Backward(j.changes) {
		if !c.Failed && !slices.Contains(turns, c.Turn) {
			turns = append(turns, c.Turn)
		}
	}
	return turns
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
	}
	return s
}
