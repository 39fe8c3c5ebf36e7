// Package ir holds the words that models, engine, tools and screens share:
// proposals, actions, tool schemas, results, blocks and streams, the canonical
// digest of a value, and the order in which actions run.
//
// It is data and pure functions only. It does no I/O, reads no clock, draws no
// random numbers and imports nothing else of this module.
//
// Glossary, one word for one thing:
//
//	action      one effect a model proposes: a tool call, a state access or an assertion
//	proposal    the actions of one step, judged together
//	call        a tool and its arguments, as a hand sees an action
//	verdict     allow, ask or deny; never an error
//	ticket      the right to attempt one action once
//	effect      what an attempt does to files, processes, network or state
//	outcome     how an attempt ended
//	level       actions that may run at the same time
//	generation  one accepted version of a proposal; an edit or replan starts the next
//	digest      SHA-256 of canonical JSON (RFC 8785), 64 lowercase hex digits
//
// Invariants: defaults are filled once, by DecodeProposal, and the filled value
// is what is digested, logged and run (E-IR-1). A value that is not I-JSON is
// refused with its path (E-JCS-2), so a digest never covers two values. An id of
// an action or a state key it reads are all that orders it (E-DAG); a condition
// that is not understood does not hold (E-IR-2).
//
// Where to start: DecodeProposal, Proposal.Digest, Levels, FormatResult.
//
// To add a member to Proposal or Action, add the field, its line in decode.go and
// its check in checkproposal.go, and a row to the tests of the digest and of the
// decoder; a test finds a field whose check is missing. To add a word to an enum,
// add the constant and its label in the one table beside it.
package ir
