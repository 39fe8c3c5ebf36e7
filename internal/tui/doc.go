// Package tui is what a person sees: an inline screen for a conversation (U-TUI).
//
// Finished things are printed once into the terminal's own scrollback, where they can
// be scrolled, searched and copied; only what still moves is redrawn below them, at
// most thirty times a second. The package draws a conversation and asks a person; it
// decides nothing, runs nothing, and reaches policy, tools and the store only through
// what its Config hands in.
//
// Where to start: Run takes a Config and blocks until the person leaves. model.go
// holds the state and routes messages; events.go turns what happened in the
// conversation into panes and prints; keys.go gives keys to whom they belong; view.go
// divides the rows of the screen; effects.go holds every command, which is the only
// place that waits for anything. A pane is a directory: its state, what changes it,
// and a pure drawing of it. Terminals that take no redrawing, and people who want
// none, get package line instead.
//
// Invariants, each held by a test:
//   - Outside text reaches the terminal through package safe only (P-TERM-1).
//   - Update and View do no I/O, read no clock and wait for nothing; time comes in
//     messages.
//   - The drawn part is never taller or wider than the screen.
//   - What is printed keeps its order: one print is under way at a time.
//   - Every way out goes through one restoration of the terminal (P-TERM-2).
//
// It may import the conversation's events and inputs, ir, eventlog and the terminal
// libraries. To add a pane: a directory with its state and View, a field in model, a
// place in draw. To add a slash command: see Command.
package tui
