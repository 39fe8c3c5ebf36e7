// Package assistant is the conversation: it turns inputs into turns, turns into
// inferences and proposals, asks the person what the engine leaves open, and says
// exactly once how each run ended.
//
// The words: a session is one durable conversation; a turn is one input to one
// terminal event; a step is one inference and its tool calls, which become one
// proposal; a run is a turn, or a goal with all its iterations.
//
// Model text is data: it never sets a tier, an approval, a policy, or ends a
// gate (A-LOOP-18). Everything a host sees is an Event, everything that happened
// is in the store and in the engine's log.
//
// # Where to start
//
// New makes a Service, Start opens a session as a Conversation, Send gives it an
// input, Subscribe tells what becomes of it. Behind that, in the order in which a
// run meets them:
//
//	conversation.go  worker.go   inputs, one run at a time, and its one end
//	run.go  chat.go  goal.go     a turn, or a goal with its iterations and check
//	loop.go  infer.go            asking a model until its answer is whole
//	step.go  call.go  answer.go  calls into one proposal, results back in order
//	approve.go                   the engine's questions and their answers
//	receipt.go  outcome.go       what really ran, and what that is worth
//	hub.go  shown.go             events, bounded and with secrets masked
//	persist.go  transcript.go    what the store keeps, and requests made of it
//
// # Invariants
//
//   - A run has exactly one terminal event, a receipt report immediately before
//     it, and nothing after it, whatever broke (A-EVT-1, A-SVC-10).
//   - Every call has exactly one result, in history and on the wire (P-WORK-2).
//   - Requests are built from the transcript's rows, which only grow (A-CTX-4);
//     a model is asked only when they are on disk (A-DUR-3).
//   - Nothing of a reply runs before its stop, and nothing of a cut one ever
//     (P-STREAM-1).
//   - Nobody waits for a reader of events, and no goroutine outlives Close.
//
// The package may import the engine's rooms, llm, store and project. It draws
// nothing and imports no terminal library. To add an event: a body and its label
// in event.go. To add an end: a code in codes.go with its exit code. Numbers live
// in limits.go.
package assistant
