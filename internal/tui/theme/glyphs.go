package theme

import "time"

// Glyphs are the marks of the screen. Each takes one cell, but for Ellipsis and
// Rule in their ASCII forms.
type Glyphs struct {
	// Spinner turns while something runs, one frame each SpinnerFrame.
	Spinner []string
	// Good, Bad and Wait stand before what ended well, ended badly, waits for a person.
	Good, Bad, Wait string
	// Prompt stands before what the person types, Bullet before a list entry.
	Prompt, Bullet string
	// Elbow leads to what belongs to the line above.
	Elbow string
	// Bar runs beside quoted text, Fold beside a line that the screen had to fold.
	Bar, Fold string
	// Dot separates words of a status line; Ellipsis stands for what was left out.
	Dot, Ellipsis string
	// Up, Down, Open, Done name directions and boxes.
	Up, Down, Open, Done string
}

// SpinnerFrame is how long one frame of the spinner stands.
const SpinnerFrame = 100 * time.Millisecond

var unicodeGlyphs = Glyphs{
	Spinner: []string{"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"},
	Good:    "✓", Bad: "✗", Wait: "?", Prompt: "❯", Bullet: "•", Elbow: "└", Bar: "│", Fold: "┆",
	Dot: "·", Ellipsis: "…", Up: "↑", Down: "↓", Open: "☐", Done: "☑",
}

var asciiGlyphs = Glyphs{
	Spinner: []string{"|", "/", "-", `\`},
	Good:    "+", Bad: "x", Wait: "?", Prompt: ">", Bullet: "*", Elbow: "`", Bar: "|", Fold: ":",
	Dot: "-", Ellipsis: "...", Up: "up", Down: "down", Open: "[ ]", Done: "[x]",
}

// Spin returns the frame of the spinner for something that has run this long.
func (g Glyphs) Spin(elapsed time.Duration) string {
	return g.Spinner[int(max(elapsed, 0)/SpinnerFrame)%len(g.Spinner)]
}
