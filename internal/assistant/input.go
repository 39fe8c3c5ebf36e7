package assistant

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
}

// Goal is an objective with the check that decides it (A-GOAL-1).
type Goal struct {
	Check string
	// MaxIterations is clamped to 1–50; 0 means the default of 10.
	MaxIterations int
	// Typed says that the person wrote the check on this command line, which approves it (A-GOAL-3).
	Typed bool
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
