// Package montecarlo tells how likely a plan is to reach its goal when tools may
// fail (V-MC). A trial is the walk of Simulate in which each dispatched call succeeds
// at its tool's rate; what depends on a failed call is rejected by data. The exact
// method enumerates the outcomes instead of sampling them.
//
// Nothing here is random: a draw is a function of seed, trial, action and attempt,
// so that two plans are compared under the same luck and an action that is added or
// moved leaves every other draw alone.
//
// Start at Run. It imports ir and its neighbours model, goal and report.
package montecarlo
