// Package state holds what a session's actions know together: a versioned
// key/value store, in memory or in a file that outlives the process, the writes of one proposal as a transaction that can
// be taken back, and the writes of one attempt as a buffer.
//
// An attempt writes into its buffer, which lands as one batch when the attempt
// succeeded and vanishes otherwise (E-EXEC-8). A proposal's transaction remembers
// each write that landed, so that an abort undoes exactly those, newest first, and
// leaves alone what others wrote since (E-STATE-1).
//
// Invariants. A value is a clone of what was given, decoded JSON, and is never
// changed in place; readers share it and must not change it either. The revision
// grows with every mutation, restoring included, and a key's version is the
// revision of the write that put its value there: no two writes share one, and a
// restored value has its old version back. Nothing here copies the store, so a
// proposal costs what it touches, however much there is.
//
// In a file every batch is a line before it is in memory, and a proposal counts
// once its end is a line too: what has none when the process ends is taken back by
// the next (E-STATE-3). Taking back is a line as well, so it costs no more on disk
// than here.
//
// The room may import ir and jsonl. It knows neither who runs the attempts nor when they
// may: which proposals run side by side is the caller's to order.
package state
