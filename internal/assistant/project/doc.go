// Package project finds and reads what governs a working directory: the `.car/`
// folders of projects, the person's own files in $CAR_HOME, and the instruction
// files (AGENTS.md) that guide a model.
//
// # Invariants
//
//   - Present but broken is never absent: a malformed, unreadable or oversized file,
//     an unknown key, a wrong type or a value that means nothing is an *Error with
//     file, line and key, and every one is reported at once (P-GUARD-6, G-POL-1).
//   - A project's file only tightens until a person trusts its digest. What it would
//     widen is named in Project.Ignored, never dropped silently (G-TRUST-1, P-GUARD-5).
//   - A trusted project may widen a default; what the person wrote is never loosened.
//   - Prohibitions are collected from every `.car/` between the working directory
//     and the home or filesystem root; permissions come from the root's own only (D-32).
//   - A project's files are read through a handle on its root: no link leads out.
//   - Nothing is started, and the environment is what Config hands in.
//   - Each setting remembers where it came from (Value.From).
//
// # Where to start
//
// Load is the door. find.go walks, file.go reads bytes, decode.go makes TOML
// strict, settings.go says what each key does when layers disagree, rules.go
// reads policies, guide.go the instruction files.
//
// To add a setting: a field in configFile (config.go) with its key, a field in
// Settings, and one line in merge (settings.go) that says which way is tighter.
//
// The package may import engine/ir, engine/policy, engine/gate and libraries; it
// and llm/scripted are the only rooms that import the TOML library.
package project
