package screen

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Frame says what one picture is.
type Frame struct {
	// Width and Height are the size it was made for.
	Width, Height int
	// Lines are the widths of its lines in cells.
	Lines []int
	// Row and Column place the caret, from 0; Row is -1 where there is none.
	Row, Column int
	// Generation numbers pictures that somebody waits for; see Writer.Await.
	Generation uint64
}

const (
	markStart = "\x1b_car;"
	markEnd   = "\x1b\\"
)

// Mark writes the frame's description as a sequence that takes no space. It belongs
// at the end of the last line.
func Mark(f Frame) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%d;%d;%d;%d;%d;", markStart, f.Width, f.Height, f.Row, f.Column, f.Generation)
	for i, w := range f.Lines {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(w))
	}
	b.WriteString(markEnd)
	return b.String()
}

// cutMark takes the mark out of what the renderer wrote.
func cutMark(p []byte) (rest []byte, f Frame, found bool) {
	at := bytes.LastIndex(p, []byte(markStart))
	if at < 0 {
		return p, f, false
	}
	end := bytes.Index(p[at:], []byte(markEnd))
	if end < 0 {
		return p, f, false
	}
	fields := strings.Split(string(p[at+len(markStart):at+end]), ";")
	if len(fields) != 6 {
		return p, f, false
	}
	n := make([]int, 5)
	for i := range n {
		n[i], _ = strconv.Atoi(fields[i]) // we wrote it
	}
	f = Frame{Width: n[0], Height: n[1], Row: n[2], Column: n[3], Generation: uint64(n[4])}
	for w := range strings.SplitSeq(fields[5], ",") {
		cells, _ := strconv.Atoi(w)
		f.Lines = append(f.Lines, cells)
	}
	rest = append(append(make([]byte, 0, len(p)), p[:at]...), p[at+end+len(markEnd):]...)
	return rest, f, true
}
