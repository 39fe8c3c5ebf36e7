package textfile

import (
	"sort"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// View is a text as edits see it: all line ends are LF, and every position
// knows where it is in the text as it stands (T-FILE-11).
type View struct {
	raw string
	// LF is the text to match in.
	LF string
	// crlf are the positions in LF of line feeds that have a carriage return before them in raw.
	crlf []int
}

// NewView makes the view of a text.
func NewView(raw string) *View {
	v := &View{raw: raw, LF: ToLF(raw)}
	for i, shift := 0, 0; ; shift++ {
		j := strings.Index(raw[i:], "\r\n")
		if j < 0 {
			return v
		}
		v.crlf = append(v.crlf, i+j-shift)
		i += j + 2
	}
}

// at is the position in raw of a position in LF. A CRLF counts to what follows it.
func (v *View) at(lf int) int { return lf + sort.SearchInts(v.crlf, lf) }

// isCRLF reports whether the line feed at a position in LF is a CRLF in raw.
func (v *View) isCRLF(lf int) bool {
	i := sort.SearchInts(v.crlf, lf)
	return i < len(v.crlf) && v.crlf[i] == lf
}

// Change replaces LF[Start:End] by New, whose line ends are LF.
type Change struct {
	Start, End int
	New        string
}

// Splice applies changes, which are in order and do not overlap, and returns the
// new text. Lines that stay the same keep their bytes; a new line gets the end of
// the line it replaces, else of its neighbour.
func (v *View) Splice(changes []Change) string {
	var b strings.Builder
	last := 0
	for len(changes) > 0 {
		n, from, to := v.sameLines(changes)
		for _, e := range udiff.Lines(v.LF[from:to], apply(v.LF[from:to], from, changes[:n])) {
			c := Change{from + e.Start, from + e.End, e.New}
			b.WriteString(v.raw[v.at(last):v.at(c.Start)])
			b.WriteString(v.withEnds(c))
			last = c.End
		}
		changes = changes[n:]
	}
	b.WriteString(v.raw[v.at(last):])
	return b.String()
}

// sameLines counts the changes from the first on whose lines touch, and returns
// the borders of those lines.
func (v *View) sameLines(changes []Change) (n, from, to int) {
	from = strings.LastIndexByte(v.LF[:changes[0].Start], '\n') + 1
	for n < len(changes) && (n == 0 || changes[n].Start < to) {
		to = len(v.LF)
		if i := strings.IndexByte(v.LF[changes[n].End:], '\n'); i >= 0 {
			to = changes[n].End + i + 1
		}
		n++
	}
	return n, from, to
}

// apply puts changes into a part of LF that begins at from.
func apply(part string, from int, changes []Change) string {
	var b strings.Builder
	last := 0
	for _, c := range changes {
		b.WriteString(part[last : c.Start-from])
		b.WriteString(c.New)
		last = c.End - from
	}
	b.WriteString(part[last:])
	return b.String()
}

// withEnds gives the line feeds of a change the ends of the lines it replaces.
func (v *View) withEnds(c Change) string {
	var ends []bool
	for i := c.Start; i < c.End; i++ {
		if v.LF[i] == '\n' {
			ends = append(ends, v.isCRLF(i))
		}
	}
	if len(ends) == 0 {
		ends = append(ends, v.neighbour(c))
	}
	var b strings.Builder
	for i, line := range strings.SplitAfter(c.New, "\n") {
		if strings.HasSuffix(line, "\n") && ends[min(i, len(ends)-1)] {
			line = line[:len(line)-1] + "\r\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

// neighbour says whether the line before a change, else the one after it, ends in CRLF.
func (v *View) neighbour(c Change) bool {
	if i := strings.LastIndexByte(v.LF[:c.Start], '\n'); i >= 0 {
		return v.isCRLF(i)
	}
	if i := strings.IndexByte(v.LF[c.End:], '\n'); i >= 0 {
		return v.isCRLF(c.End + i)
	}
	return false
}
