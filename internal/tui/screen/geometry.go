package screen

// geometry is what is known of the rows on the terminal: the lines of the last frame,
// where the cursor is in them, and at what size that was.
type geometry struct {
	width, height int
	lines         []int
	row, column   int // the cursor, in lines
	// ghosts are lines of older frames right above, which went out of reach at the
	// top of a small screen.
	ghosts []int
}

// rowsOf is how many rows a line takes that was drawn on one.
func rowsOf(cells, width int, reflows bool) int {
	if !reflows || width <= 0 || cells <= width {
		return 1
	}
	return (cells + width - 1) / width
}

func sum(lines []int, width int, reflows bool) int {
	n := 0
	for _, cells := range lines {
		n += rowsOf(cells, width, reflows)
	}
	return n
}

// moveTo works out a change of size: how many rows up from the cursor everything of
// ours begins that can be reached, and what can not.
func (g *geometry) moveTo(width, height int, reflows bool) (up int) {
	if len(g.lines) == 0 {
		g.width, g.height = width, height
		return 0
	}
	cursor := 0
	if reflows && width > 0 {
		cursor = g.column / width
	}
	above := sum(g.lines[:g.row], width, reflows) + cursor
	below := sum(g.lines[g.row:], width, reflows) - 1 - cursor
	// A lower screen takes rows from below the cursor first, then from the top.
	below -= min(below, max(g.height-height, 0))
	reach := max(height-1-below, 0)
	all := append(append([]int{}, g.ghosts...), g.lines[:g.row]...)
	if cursor > 0 {
		all = append(all, cursor*width) // the folded part of the caret's own line
	}
	total := sum(g.ghosts, width, reflows) + above
	g.width, g.height = width, height
	if total <= reach {
		g.ghosts = nil
		return total
	}
	g.ghosts = head(all, total-reach, width, reflows)
	return reach
}

// head returns the first lines that take so many rows; the last may be a part of one.
func head(lines []int, rows, width int, reflows bool) []int {
	var out []int
	for _, cells := range lines {
		if rows <= 0 {
			break
		}
		n := rowsOf(cells, width, reflows)
		if n > rows {
			cells = rows * width
		}
		out = append(out, cells)
		rows -= n
	}
	return out
}
