package editor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"car/internal/tui/safe"
)

// unit is one step of the caret. show is drawn, text is what the person meant;
// they differ for a tab and for a chip.
type unit struct {
	show, text string
	chip       bool
}

func (u unit) newline() bool { return u.text == "\n" }

// word reports whether word-wise moves go over the unit.
func (u unit) word() bool { return u.chip || strings.TrimSpace(u.text) != "" }

// Buffer is text with a caret. The zero value is empty.
type Buffer struct {
	units  []unit
	at     int    // the caret stands before units[at]
	goal   int    // the column that moves up and down aim for, plus 1; 0 is none
	killed []unit // what the last kill took, for Yank
}

// New returns a buffer that holds text, the caret at its end.
func New(text string) Buffer { return Buffer{}.Insert(text) }

// Text is what was typed and pasted, chips spelt out.
func (b Buffer) Text() string {
	var out strings.Builder
	for _, u := range b.units {
		out.WriteString(u.text)
	}
	return out.String()
}

// Empty reports whether there is no text.
func (b Buffer) Empty() bool { return len(b.units) == 0 }

// Before is the text left of the caret.
func (b Buffer) Before() string { return Buffer{units: b.units[:b.at]}.Text() }

// Insert types text at the caret. Line ends of every kind are taken; what a
// terminal would obey goes in as the visible escape of package safe.
func (b Buffer) Insert(text string) Buffer {
	// A mark that combines with the character before the caret joins its unit.
	from := b.at
	if from > 0 && !b.units[from-1].chip && !b.units[from-1].newline() {
		from--
		text = b.units[from].text + text
	}
	return b.splice(from, b.at, segment(text))
}

// InsertChip puts a long text at the caret as one unit.
func (b Buffer) InsertChip(text string) Buffer {
	text = neutral(text)
	lines := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1
	show := fmt.Sprintf("[%d lines, %d characters]", lines, len([]rune(text)))
	if lines == 1 {
		show = fmt.Sprintf("[%d characters]", len([]rune(text)))
	}
	return b.splice(b.at, b.at, []unit{{show: show, text: text, chip: true}})
}

// neutral filters text but for its tabs. Terminals send pasted line ends as
// carriage returns.
func neutral(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	parts := strings.Split(text, "\t")
	for i, p := range parts {
		parts[i] = safe.Text(p)
	}
	return strings.Join(parts, "\t")
}

func segment(text string) []unit {
	text = neutral(text)
	var units []unit
	for len(text) > 0 {
		g, _ := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		u := unit{show: g, text: g}
		switch g {
		case "\t":
			u.show = "    "
		case "\n":
			u.show = ""
		}
		units = append(units, u)
		text = text[len(g):]
	}
	return units
}

// splice replaces units[from:to] and puts the caret after what came in.
func (b Buffer) splice(from, to int, in []unit) Buffer {
	units := make([]unit, 0, len(b.units)+len(in))
	units = append(append(append(units, b.units[:from]...), in...), b.units[to:]...)
	return Buffer{units: units, at: from + len(in), killed: b.killed}
}

// Backspace deletes the unit before the caret.
func (b Buffer) Backspace() Buffer {
	if b.at == 0 {
		return b
	}
	return b.splice(b.at-1, b.at, nil)
}

// Delete deletes the unit after the caret.
func (b Buffer) Delete() Buffer {
	if b.at == len(b.units) {
		return b
	}
	return b.splice(b.at, b.at+1, nil)
}

// kill deletes and remembers.
func (b Buffer) kill(from, to int) Buffer {
	if from >= to {
		return b
	}
	taken := slices.Clone(b.units[from:to])
	b = b.splice(from, to, nil)
	b.killed = taken
	return b
}

// KillLine deletes from the caret to the end of the line, or the line end itself.
func (b Buffer) KillLine() Buffer {
	end := b.lineEnd()
	if end == b.at && end < len(b.units) {
		end++
	}
	return b.kill(b.at, end)
}

// KillToStart deletes from the start of the line to the caret.
func (b Buffer) KillToStart() Buffer { return b.kill(b.lineStart(), b.at) }

// KillWord deletes the word before the caret.
func (b Buffer) KillWord() Buffer { return b.kill(b.wordLeft(), b.at) }

// KillWordRight deletes the word after the caret.
func (b Buffer) KillWordRight() Buffer { return b.kill(b.at, b.wordRight()) }

// Yank puts back what the last kill took.
func (b Buffer) Yank() Buffer { return b.splice(b.at, b.at, b.killed) }

// Left and the moves below put the caret elsewhere.
func (b Buffer) Left() Buffer { return b.to(b.at - 1) }

// Right moves by one unit.
func (b Buffer) Right() Buffer { return b.to(b.at + 1) }

// Start moves to the start of the line.
func (b Buffer) Start() Buffer { return b.to(b.lineStart()) }

// End moves to the end of the line.
func (b Buffer) End() Buffer { return b.to(b.lineEnd()) }

// WordLeft moves to the start of a word.
func (b Buffer) WordLeft() Buffer { return b.to(b.wordLeft()) }

// WordRight moves to the end of a word.
func (b Buffer) WordRight() Buffer { return b.to(b.wordRight()) }

func (b Buffer) to(at int) Buffer {
	b.at, b.goal = min(max(at, 0), len(b.units)), 0
	return b
}

func (b Buffer) lineStart() int {
	i := b.at
	for i > 0 && !b.units[i-1].newline() {
		i--
	}
	return i
}

func (b Buffer) lineEnd() int {
	i := b.at
	for i < len(b.units) && !b.units[i].newline() {
		i++
	}
	return i
}

func (b Buffer) wordLeft() int {
	i := b.at
	for i > 0 && !b.units[i-1].word() {
		i--
	}
	for i > 0 && b.units[i-1].word() {
		i--
	}
	return i
}

func (b Buffer) wordRight() int {
	i := b.at
	for i < len(b.units) && !b.units[i].word() {
		i++
	}
	for i < len(b.units) && b.units[i].word() {
		i++
	}
	return i
}
