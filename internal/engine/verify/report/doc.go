// Package report holds the words that every check of the verify rooms answers in:
// severity, tier, scope and explanation. It decides nothing.
//
// A report says three things apart from each other: what was found (severity), by
// what kind of check (tier), and what the check cannot see (Scope.CannotVerify).
// None of them says whether an action may run; that is the gates' to decide.
//
// It may import ir alone. A new tier or severity is a constant and its line in the
// label table.
package report
