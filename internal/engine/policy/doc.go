// Package policy says what an action needs and whether it may run: a tier of
// authority, whether it can be undone, a verdict, and why.
//
// How a judgement comes about. Judge tells what kind of call it is: shell text,
// a file tool, a request, a harmless tool, or one nobody knows. Shell text is
// read by engine/shell into simple commands. Each command finds its row in the
// program table (table_*.go, plain data), which says its class and what its
// options and operands mean: read, written, sent, started. Handlers
// (handle_*.go) know what a row cannot say. Every path becomes a place
// (resolve.go, place.go, secret.go): inside, outside, secret, protected; every
// address a reach (address.go). What is found raises tier, worsens
// reversibility, asks or denies. Rules of files (rule_set.go) come on top. At
// the end everything is combined by the strictest, then posture and granted
// tier turn some questions into permissions, never a refusal.
//
// Invariants:
//   - The zero verdict denies; a judgement that panics denies.
//   - Verdicts only ever combine by the stricter (Verdict.Stricter).
//   - What cannot be told is full access and a question, never allowed.
//   - No tier rises by a substring of a value: only parsed commands, option and
//     operand roles, places and names are evidence (G-TIER-1).
//   - Reasons and violations never hold a secret value or the text a rule
//     matched (G-POL-3).
//   - Judge is a function of its inputs and of Facts; it is safe for concurrent
//     use. Only Take changes anything, a rate budget.
//
// The room may import engine/ir, engine/tool, engine/shell and engine/redact.
//
// To add a program, add a row to a table_*.go file; if a row cannot say it, add
// a handler and name it in handle.go. To add a rule kind, add its type to
// rules.go, its check to Rules.Check and its evaluation to rule_set.go. To add a
// protected or secret name, add it to place.go or secret.go. Then add cases to
// testdata/cases; the corpus beside them is never edited.
package policy
