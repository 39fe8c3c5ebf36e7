// Package store keeps the durable half of a conversation in one SQLite file:
// sessions, turns, messages, calls, effects and decisions, grants, inputs,
// leases, goals, usage, images, anchors and trust (A-DUR).
//
// # Invariants
//
//   - Every method is one transaction, on disk when it returns: the one writing
//     connection is synchronous=FULL, so an intent survives a power cut before
//     its effect starts (A-DUR-1, D-36).
//   - Messages and the log of moves are append-only; triggers of the database
//     refuse to change or delete them while their session lives (A-DUR-2). What a
//     prompt leaves out is another row, never an edit.
//   - A checkpoint costs the rows it adds, whatever the length of the session.
//   - Two processes never write one session: whoever holds the lease is checked
//     inside each writing transaction (A-SVC-11, P-SCALE-2).
//   - A call has at most one result, an input is delivered at most once, a turn
//     has at most one end (P-WORK-2, P-WORK-7, A-EVT-1).
//   - Waiting for another process is the store's business: nobody sees "locked".
//
// Bodies are opaque JSON; the rooms that write them own their shape.
//
// # Where to start
//
// Open is the door, tx.go the only way to write, schema.go the tables with the
// spec's names; then one file a group of tables. To add a table: append a
// migration to schema.go (never edit one that was released), add one file, and
// guard its writes with fence if they belong to a session.
//
// The package may import engine/approval, engine/ir and libraries; nothing else
// of this module.
package store
