// Package engine is the law every action passes through. It has one door,
// Runtime.Execute, and this is the life of an action behind it, with every record
// it leaves:
//
//  1. admit establishes the proposal's canonical identity, then checks ids, retry
//     limits and graph. A proposal refused here leaves one state_rollback event
//     that says so, and nothing has run.
//  2. Each action passes capability, schema and policy without any state. What is
//     refused is refused before anybody is asked (law 3).
//  3. The gates see the whole proposal; each leaves an admission_gate_decision.
//     Then proposal_received.
//  4. Level by level (ir.Levels), in its turn: dependencies, preconditions and
//     require_state are checked; what is left open is asked. The question is a row
//     in state proposed before it is put, the answer a row and an approval_recorded
//     event before it is used.
//  5. admit issues a ticket; dispatch spends it: intent row dispatched (effects that
//     are more than reads), then action_executing, then the tool acts through Env,
//     then the outcome row completed, failed or indeterminate.
//  6. action_succeeded, action_failed, action_rejected, policy_violation or
//     action_skipped: exactly one for every action, and one result.
//  7. state_committed, or state_snapshot and state_rollback.
//
// A record that cannot be written stops what it speaks of. Invariants: results
// are in proposal order, one an action; no tool runs without a ticket; state that
// an attempt wrote lands whole or not at all. No lock is held while a person is
// awaited.
//
// The package may import its rooms. It imports no tool, store or screen: those
// come in through Config. Start at runtime.go, then run.go.
package engine
