// Package gate holds the admission gates, one file each: information flow (flow.go),
// intent with its taint ledger (intent.go), production gates (production.go), trace
// rules (trace.go). A gate sees a whole proposal with what policy made of it and says
// allow, ask or deny; admit runs them in order, logs every word and fails closed.
//
// # Invariants
//
//   - A gate judges by facts that policy found out: places with links followed,
//     programs by their names in the table. It reads no shell text.
//   - A refusal names the actions it is about, what was to happen, and why.
//   - What a gate cannot know it asks about; it neither lets it pass nor refuses it
//     for good. A fingerprint covers one action with its parameters and no other.
//   - A project's file adds and strengthens. What would loosen or start something
//     counts only from a file that a person trusts (G-TRUST-1).
//   - Ledgers are told of what happened (admit.Witness); a gate changes nothing else.
//
// # To add a gate
//
// One file with a type that is an admit.Gate, its configuration as a type with the
// keys of its file, and testdata/<name>/ with rows that allow, ask and deny and the
// bypasses that were tried. Then its place in Standard (standard.go).
//
// The package may import engine/ir, engine/tool, engine/policy, engine/admit and
// engine/verify.
package gate
