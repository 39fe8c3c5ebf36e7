// Package flow decides who may learn what and who may steer whom in a proposal, by
// labels on a lattice (V-FLOW, after Denning 1976). A label has a confidentiality
// and a trust; joining two takes the higher confidentiality and the lower trust.
//
// Check follows labels along declared flow to a fixpoint and reports what reaches a
// sink that must not. Decide says what that is worth under a policy; the gate turns
// it into a refusal or a question. Both are pure functions of their arguments.
//
// What a label says is exact; what is uncertain is said apart (Action.May,
// Violation.Certain), so that a guess never blocks for good and is never silent.
//
// The package may import ir, verify/report and verify/dag. A new kind of violation
// is a constant with its line in the label table, a function that finds it, and a
// line in GatePolicy.
package flow
