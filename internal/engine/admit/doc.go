// Package admit decides what of a proposal may be attempted. It establishes
// identity, runs the static checks of each action (capability, schema, policy),
// then the gates over the whole proposal, asks what is left open, and issues the
// tickets without which dispatch does nothing (E-PIPE).
//
// Invariants. A Ticket is good for one action, digest, generation and attempt,
// once, at the Admitter that issued it. Nobody is asked about an action that
// schema or policy already refuses (law 3). A gate that errs, panics or is silent
// rejects. The zero value of every decision here denies.
//
// The interfaces Judge, Gate, Approver and Recorder live here, with their
// caller; see contract.go. It may import the engine's lower rooms and does no I/O
// but through those interfaces. Start at Admitter.Admit.
package admit
