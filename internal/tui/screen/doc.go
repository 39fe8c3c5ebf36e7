// Package screen stands between Bubble Tea's renderer and the terminal.
//
// The renderer (v1.3.10, pinned) knows how many lines it drew last and moves up by
// that many to draw again. That is not enough for a part of the screen that is
// redrawn below a growing scrollback:
//   - When the terminal's width changes it breaks the drawn lines anew, and they take
//     more rows than the renderer thinks; moving up by the old count leaves copies of
//     the input box behind (B065). Writer keeps the width of every line it drew and
//     counts again. What went out of reach at the top it remembers and erases when a
//     larger screen brings it back.
//   - A frame made for one size must not be written at another: it is dropped, and
//     what it would have printed for good is kept for the next one.
//   - The hardware cursor has to be at the caret (P-TERM-3), for input methods and
//     screen readers; the renderer leaves it at the bottom left.
//   - A printed line that the terminal folds leaves the rest of old rows beside it.
//   - Frames are wrapped in synchronised updates, so a slow line shows no half frame.
//   - Modes that Bubble Tea does not know are pushed and popped where it sets its own,
//     so every way out that restores its modes restores ours (P-TERM-2).
//
// A frame tells what it is by a Mark at its end, an escape sequence of no width that
// Writer takes out. Outside text can not forge one, since no escape of it gets here.
//
// The package imports nothing of ours. Writer is safe for concurrent use.
package screen
