// Package claim compares what a model says it did with what really ran: the
// receipts of a session, the completion matrix made of them, and a rule that finds
// plain claims in a closing text and says whether a receipt stands behind each
// (A-CLAIM, P-TRUE-2).
//
// Start at Receipt, then Judge. Everything here is a pure function of its
// arguments: no I/O, no clock, no model.
//
// Invariants:
//
//   - A receipt comes from an engine result, never from a model's words.
//   - What a command is, is read from its parsed words, not from its text.
//   - Doubt is silent: a sentence that may mean something else is no claim, and a
//     command that may have done what is claimed supports it. A false alarm costs
//     more trust than a missed boast (A-CLAIM-6).
//
// The package imports nothing of this module. To add a kind of claim: a Kind with
// its label, a row in patterns, a case in Judge, and lines in testdata/endings.txt
// for both answers. To teach a runner or a deploy tool: a row in programs.
package claim
