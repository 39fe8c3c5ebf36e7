// Package jsonl is a file of JSON lines that grows at its end: what the record of
// a session and the journal of a store stand on.
//
// Invariants. The file is its owner's alone, 0600 in folders of 0700. A line goes
// out in one write, and one that went out in part is taken back, so that whatever
// ends the process leaves whole lines and at most one torn one behind them.
// Replacing the file is atomic and says whether the new one is in force. What a
// line means is the caller's affair.
//
// The room imports nothing of this module. Start at Open and Scan; Each reads a
// file that another process owns.
package jsonl
