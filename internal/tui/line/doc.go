// Package line is the conversation in plain sequential lines: no colour that was not
// asked for, no spinner, nothing drawn twice. It serves terminals that can do no more
// (TERM=dumb), people who want no more (CAR_ACCESSIBLE, U-TUI-11), and commands that
// ask a person something without having a screen.
//
// Run is a whole conversation. Printer turns events into lines, Question and Answer
// are the two halves of asking: the whole of what would run, and what was typed. What
// was typed before a question stood there does not answer it, and anything but a
// clear yes is a no (G-APPR).
//
// It imports the conversation's events, ir, and the panes' pure parts.
package line
