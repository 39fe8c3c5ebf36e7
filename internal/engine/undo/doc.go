// Package undo remembers what files were before a session's tools changed them,
// so that a turn can be taken back (B-FILE). For each change it keeps the state
// before, durably and before the change is made, and the state after.
//
// Invariants: what cannot be stored is not changed; content is kept once by its
// digest, 0600, inside a quota; a plan never touches a path that is not as the
// session left it. The room judges nothing, follows no links and imports ir only.
// It writes below one folder, dispatch does the rest. Start at Journal.Before.
package undo
