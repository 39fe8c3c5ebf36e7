// Package transcript turns the model's streamed Markdown into lines of the screen
// at a cost for each token that does not grow with the answer (U-TUI-2).
//
// The text that is not printed yet, the tail, is cut where Markdown cuts it: blocks
// that nothing can change any more are rendered once and handed out to be printed
// into the terminal's own scrollback, and only the last, open block is rendered
// again as it grows. A block that grows long (code, a list, an endless paragraph)
// is handed out in pieces, so the tail stays small; what can not be cut (a table)
// is rendered less often the longer it is.
//
// Feed takes a delta and does next to nothing; Tick, called at the screen's pace,
// does the work; Flush ends the message. What comes back is filtered, twice: text
// on its way in (package safe) and what the renderer made of it on its way out,
// because a Markdown entity can spell a control character.
//
// This is the only room that imports goldmark and glamour. It imports theme and safe.
package transcript
