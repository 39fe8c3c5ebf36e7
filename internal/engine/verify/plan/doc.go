// Package plan checks whether the steps of a plan can be taken and reach a goal, by
// what they need, add and delete (STRIPS; V-PLAN). A key that nothing added is absent.
//
// In a total order the steps are taken one after another. In a partial order the
// answer holds for every order that the edges allow, and is exact because effects
// are unconditional: a condition holds before a step in all orders when every write
// that can be the last one before it makes it hold.
//
// Start at Decode or FromProposal, then Check. It imports ir and its neighbours dag,
// model, input and report.
package plan
