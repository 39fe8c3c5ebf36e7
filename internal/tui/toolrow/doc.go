// Package toolrow is the pane of tool calls: a row for each, in the order of their
// sequence, with a spinner while it runs and a mark, the time it took and one line
// of its result when it ended (U-TUI-3).
//
// Rows live in the redrawn part of the screen until they and all before them have
// ended; then Take hands them out and they are printed for good. The pane knows
// kinds of block and names of parameters, and no tools.
//
// It imports the conversation's events, ir, block, safe and theme.
package toolrow
