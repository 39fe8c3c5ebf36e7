// Package llm is the seam between the conversation and the models: messages in
// the one form that every provider is built from, the events a reply streams
// as, the errors it can end with, and the pure rules around them (collecting a
// stream, reading tool arguments, wire ids, when to try again).
//
// Start at Provider. One call of Stream is one HTTP request: an adapter neither
// retries nor remembers; whoever drives it decides both.
//
// Invariants:
//
//   - A stream yields at most one error, as its last item. Without an error it
//     has exactly one Stop, as its last event. A reply without its terminal event
//     is an error of kind disconnected, and no call of it may run (P-STREAM-1).
//   - Arguments of calls stay the raw text of the model until Stop; nobody
//     completes them (A-LOOP-6).
//   - Requests are built from these typed values each time. Signed or encrypted
//     reasoning is kept as the provider's own text and goes back, byte for byte,
//     to the provider and model that made it, or is left out (A-LLM-3).
//   - No clock, no sleep, no environment, no log. Keys are never part of an error.
//
// Sub-packages: wire (HTTP, server-sent events, status to error), anthropic and
// openai (adapters), scripted (replays a file), llmtest (the suite which every
// provider passes).
//
// To add a provider: one package here with a Provider, and a test that runs
// llmtest.Run against a loopback server speaking its format.
//
// The package may import engine/ir and nothing else of this module.
package llm
