// Package handle keeps the streams of detached tools: calls that go on beside the
// DAG and are polled, watched or cancelled by their handle (E-DET).
//
// Invariants: a handle has one terminal state, set once; a poll that shows it and
// has drained every chunk consumes the handle; a buffer is bounded and counts
// what it dropped; every stream's goroutine ends with its context, and Close
// waits for them. The room imports ir only. Start at Registry.Start.
package handle
