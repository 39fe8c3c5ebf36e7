// Package model is the forward model of a plan: what state each action would find
// and leave if tools do exactly what they declare. Verify, Simulate and Monte Carlo
// walk the same model and differ in what they let land.
//
// A key is present with a value, absent, or unknown: written at run time with no
// declared value (V-BEYOND-1). Whatever rests on an unknown key is undecided, never
// guessed. What the engine applies is followed exactly: a tool call's declared
// effects, a state_write's key; other declared effects are inert, and an action that
// is reserved as a compensation never runs forward.
//
// Start at Compile. It imports ir and its neighbours dag and report. Values are
// shared with the proposal and the state they came from and are never changed.
package model
