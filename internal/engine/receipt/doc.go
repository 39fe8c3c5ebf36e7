// Package receipt compares what somebody says was called with what was: receipts
// come from the record of a session, claims from whoever reports on it (E-RCPT).
//
// Invariants. A receipt stands for a call that ran, or whose earlier result was
// given again; what was refused leaves none. Everything is a pure function of
// events and claims. Where the record may have lost receipts, and where a receipt
// cannot answer, a claim is told as one that cannot be judged, never as false.
//
// The claims here are structured: a tool, a count, an absence. Finding claims in
// prose, and whether tests that passed are older than the last edit, is the
// conversation's affair (internal/assistant/claim), which judges by what a command
// does; both speak of receipts and neither takes a model's word for one.
//
// The room may import ir and eventlog. Start at Of and Verify. To add a kind of
// claim: a Kind with its label, and a case in Verify.
package receipt
