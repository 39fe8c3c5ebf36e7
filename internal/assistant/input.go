package assistant

import (
	"errors"
	"strings"

	"car/internal/assistant/llm"
)

// Input is what a person or host sends as one turn (A-SVC-4).
type Input struct {
	Text string
	// Context is host observations: untrusted evidence, empty is none (A-SVC-7).
	Context string
	// Model, trimmed and non-blank, is strict for this input (A-SVC-5).
	Model string
	// Steer delivers into the running turn instead of queueing for the next.
	Steer bool
	Goal  *Goal
	// Images come with the words and stay part of the message (A-SVC-6).
	Images []llm.Image `json:",omitempty"`
	// Replaces are returned inputs that this one stands for, changed or joined; they
	// are gone once it is accepted (P-WORK-7).
	Replaces []int64 `json:",omitempty"`
}

// check refuses what could never run.
func (in Input) check() error {
	switch {
	case strings.TrimSpace(in.Text) == "":
		return errors.New("the input is empty: say what to do")
	case in.Goal != nil && strings.TrimSpace(in.Goal.Check) == "":
		return errors.New("a goal needs a check: a shell command that exits 0 when it is reached")
	case in.Goal != nil && in.Steer:
		return errors.New("a goal cannot be steered into a running turn: send it by itself")
	case in.Goal != nil && len(in.Images) > 0:
		return errors.New("a goal takes no pictures: describe them, or send them in a turn of their own first")
	}
	return checkPictures(in.Images)
}

// Goal is an objective with the check that decides it (A-GOAL-1).
type Goal struct {
	Check string
	// MaxIterations is clamped to 1–50; 0 means the default of 10.
	MaxIterations int
	// Typed says that the person wrote the check on this command line, which approves it (A-GOAL-3).
	Typed bool
}

// iterations is MaxIterations within its bounds.
func (g Goal) iterations() int {
	if g.MaxIterations == 0 {
		return goalIterations
	}
	return min(max(g.MaxIterations, 1), maxGoalIterations)
}

// Waiting is an input that was not delivered and waits for the person: taken back
// by a cancel, or left by a process that ended (P-WORK-7).
type Waiting struct {
	ID int64
	Input
}

// Answer is a person's answer to an approval (A-APPR-11). The zero value denies.
type Answer struct {
	Kind AnswerKind
	// Reason is what the model reads of a refusal; empty reads "declined by user".
	Reason string
	// Params replace the call's for AnswerEdit.
	Params map[string]any
	// By names who answered: "user", "supervisor:<client>".
	By string
}

// AnswerKind is the kind of an answer; the zero value denies.
type AnswerKind uint8

// The answers.
const (
	AnswerDeny AnswerKind = iota
	AnswerDenyAndStop
	AnswerOnce
	AnswerSession
	AnswerEdit
)

var answerLabels = [...]string{"deny", "deny_and_stop", "once", "session", "edit"}

// String returns the wire label of approval_resolved.
func (k AnswerKind) String() string {
	if int(k) < len(answerLabels) {
		return answerLabels[k]
	}
	return answerLabels[AnswerDeny]
}

// ParseAnswer reads what a host sends as a word: approve, approved and yes mean
// once, everything that is not another label denies (A-APPR-11).
func ParseAnswer(word string) AnswerKind {
	word = strings.ToLower(strings.TrimSpace(word))
	switch word {
	case "approve", "approved", "yes":
		return AnswerOnce
	}
	for k, label := range answerLabels {
		if word == label {
			return AnswerKind(k)
		}
	}
	return AnswerDeny
}
