// Package eventlog is the record of what happened: typed events in order, in
// memory and, where a path is given, as JSON lines in a file of mode 0600.
//
// Invariants. An event is recorded before what it announces happens: when Append
// returns an error nothing was recorded and nothing may run. Events are never
// changed; retention drops the oldest and nothing else. A line goes out in one
// write and a line that went out in part is taken back. What an event holds is a
// redacted copy; digests in it are of the originals (D-23). Chained logs link
// every event to the one before by SHA-256 over canonical JSON, so an edit,
// a deletion or a swap shows at its index (E-LOG-6). What a chain alone does not
// show is that events are missing at either end; for a log that is open, Verify
// does, and for one that is not the anchor that is stored apart (B-CHAIN-1): a log
// with events always has one, and one that does not lead on from it gets no other.
//
// Readers take events by index when they are ready: Query and Count for a
// selection, Follow for a stream. None of them can lose an event or hold up the
// one who appends. ReadFile, VerifyFile and VerifyAnchored read a file that another process owns.
//
// The room may import ir, jsonl and redact, and it may write files, its own alone. To
// add a kind, add its constant and its label in kind.go; the test of the label
// table and the table in docs/spec/engine.md E-LOG-3 name it.
package eventlog
