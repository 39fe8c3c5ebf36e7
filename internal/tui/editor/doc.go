// Package editor is the text a person is typing: a buffer of what they see as
// characters, with a caret, and how it folds into rows.
//
// It counts in graphemes, never in bytes or runes: a flag, an accented letter or a
// family is one step of the caret and one press of backspace (P-TERM-3). A large
// paste is one unit too, a chip, shown by its size and sent whole (U-TUI-5). Text
// comes in through the filter of package safe; a tab is shown as spaces and stays
// a tab.
//
// A Buffer is a value: every change returns a new one and leaves the old as it was.
// It does no I/O and draws no colours. It imports safe.
package editor
