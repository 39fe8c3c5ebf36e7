package editor

// Key applies an editing key, by the name that Bubble Tea gives it, and says whether
// it was one. typed is the text of a key that has some; width is the width of the
// rows, for up and down. The keys are those of every shell's line editor.
func (b Buffer) Key(name, typed string, width int) (Buffer, bool) {
	move, ok := moves[name]
	switch {
	case ok:
		return move(b), true
	case name == "up":
		return b.Up(width)
	case name == "down":
		return b.Down(width)
	case name == "ctrl+j", name == "alt+enter":
		return b.Insert("\n"), true
	case name == typed && typed != "":
		return b.Insert(typed), true
	}
	return b, false
}

var moves = map[string]func(Buffer) Buffer{
	"left": Buffer.Left, "ctrl+b": Buffer.Left, "right": Buffer.Right, "ctrl+f": Buffer.Right,
	"home": Buffer.Start, "ctrl+a": Buffer.Start, "end": Buffer.End, "ctrl+e": Buffer.End,
	"alt+left": Buffer.WordLeft, "ctrl+left": Buffer.WordLeft, "alt+b": Buffer.WordLeft,
	"alt+right": Buffer.WordRight, "ctrl+right": Buffer.WordRight, "alt+f": Buffer.WordRight,
	"backspace": Buffer.Backspace, "ctrl+h": Buffer.Backspace, "delete": Buffer.Delete, "ctrl+d": Buffer.Delete,
	"ctrl+w": Buffer.KillWord, "alt+backspace": Buffer.KillWord, "alt+d": Buffer.KillWordRight,
	"ctrl+k": Buffer.KillLine, "ctrl+u": Buffer.KillToStart, "ctrl+y": Buffer.Yank,
}
