package editor

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// row is units[from:to] on one line of the screen.
type row struct{ from, to int }

// Layout is a buffer folded to a width: its rows and where the caret is.
type Layout struct {
	Rows []string
	// Row and Column place the caret, both from 0; Column counts cells and may equal
	// the width, where the caret stands behind a full row.
	Row, Column int
}

// Layout folds the buffer into rows of at most width cells, at spaces where there
// are any. There is always at least one row.
func (b Buffer) Layout(width int) Layout {
	rows := b.rows(width)
	var l Layout
	for i, r := range rows {
		l.Rows = append(l.Rows, b.show(r.from, r.to))
		if b.at >= r.from && (b.at <= r.to) && !(b.at == r.to && i+1 < len(rows) && rows[i+1].from == b.at) {
			l.Row, l.Column = i, b.cells(r.from, b.at)
		}
	}
	return l
}

func (b Buffer) rows(width int) []row {
	width = max(width, 1)
	var rows []row
	from, cells, space := 0, 0, -1
	for i := 0; i < len(b.units); i++ {
		u := b.units[i]
		if u.newline() {
			rows = append(rows, row{from, i})
			from, cells, space = i+1, 0, -1
			continue
		}
		w := min(ansi.StringWidth(u.show), width)
		if cells+w > width && i > from {
			cut := i
			if space > from {
				cut = space
			}
			rows = append(rows, row{from, cut})
			from, space = cut, -1
			cells = b.cells(cut, i)
		}
		cells += w
		if !u.word() {
			space = i + 1
		}
	}
	return append(rows, row{from, len(b.units)})
}

func (b Buffer) show(from, to int) string {
	var out strings.Builder
	for _, u := range b.units[from:to] {
		out.WriteString(u.show)
	}
	return out.String()
}

func (b Buffer) cells(from, to int) int { return ansi.StringWidth(b.show(from, to)) }

// Up moves to the row above, keeping the column, and says whether there was one.
func (b Buffer) Up(width int) (Buffer, bool) { return b.vertical(width, -1) }

// Down moves to the row below.
func (b Buffer) Down(width int) (Buffer, bool) { return b.vertical(width, 1) }

func (b Buffer) vertical(width, by int) (Buffer, bool) {
	l := b.Layout(width)
	to := l.Row + by
	if to < 0 || to >= len(l.Rows) {
		return b, false
	}
	goal := l.Column
	if b.goal > 0 {
		goal = b.goal - 1
	}
	rows := b.rows(width)
	at := rows[to].from
	last := rows[to].to
	if to+1 < len(rows) && rows[to+1].from == last && last > at {
		last-- // the end of a folded row is the start of the next
	}
	for at < last && b.cells(rows[to].from, at+1) <= goal {
		at++
	}
	b.at, b.goal = at, goal+1
	return b, true
}
