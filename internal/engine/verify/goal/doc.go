// Package goal says what a goal's condition is and what a state alone can tell of
// it (V-GOAL-1, V-MC-5). Conditions that need more than state, such as a command's
// exit code, are undecided here: named, and never taken as met.
//
// Start at Decode, then Decide. It imports ir and its neighbours model and report.
// A new condition is a Type with its row in the table of kinds.
package goal
