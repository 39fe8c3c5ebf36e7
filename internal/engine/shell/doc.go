// Package shell reads shell text as a shell would, without running it: text in,
// the simple commands it can lead to out, each with its words, assignments,
// redirections, working directory, what feeds it and how it is reached.
//
// It parses and judges nothing. Whether a command is good or bad is the policy
// room's business; this room says only what would run, and says it when it does
// not know.
//
// How it works: Read parses with mvdan.cc/sh and then follows the text as an
// interpreter that executes nothing. A state holds what is known of variables,
// functions, options and the working directory; where a condition cannot be
// known, both ways are followed, and where there are too many ways, what differs
// becomes unknown. Wrappers (env, timeout, xargs, find -exec, bash -c, …) are
// unwrapped: the wrapper and what it runs are two commands.
//
// Invariants:
//   - Read never panics and never hangs: length, nesting and work are bounded,
//     and a bound that was met is a Problem (G-SHELL-2).
//   - A part of a word whose value is not certain is an unknown Part; it is
//     never left out and never guessed.
//   - A command that bash could run is either among Commands or covered by a
//     Problem or a command marked Opaque.
//
// It may import the standard library and mvdan.cc/sh only.
//
// To add a wrapper, add a row to wrapperTable; one with a grammar of its own
// gets a function in a file named after it.
package shell
