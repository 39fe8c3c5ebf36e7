// Package takeover lends the person's terminal to one command of theirs (U-TUI-5,
// P-PROC-3): the command gets a terminal of its own, so that it may ask for a password
// or draw a screen, and what it writes is shown and its end kept.
//
// What the command writes reaches the terminal as it is: the person typed the command,
// and a filter would break what they opened. What is returned is plain text.
//
// Where there are no pseudo terminals (Windows) Run says so. It imports safe.
package takeover
