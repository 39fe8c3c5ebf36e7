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
// The package may import the engine's rooms, llm, store and project. It draws
// nothing and imports no terminal library.
package assistant
