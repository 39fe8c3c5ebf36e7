// Package composer is the pane a person types in: a text of several lines, its
// history, what it offers to complete, and the messages that wait their turn
// (U-TUI-5, U-TUI-6).
//
// Enter sends; ctrl+j, alt+enter and a backslash at the end make a new line. A paste
// is one edit and never sends; a large one folds to a chip. Up and down leave the
// text at its first and last row for the history. Messages that wait are shown under
// the text; the conversation keeps them and gives them back after an interrupt.
//
// Key returns what the person asked for as an Act; sending, completing and opening
// an editor are the screen's to do. Nothing here does I/O.
//
// It imports editor, safe and theme.
package composer
