package screen

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// rig is a Writer whose terminal is an emulator. The renderer's part is played by
// hand, byte for byte as Bubble Tea v1.3.10 writes.
type rig struct {
	*Writer
	t             *testing.T
	r             *os.File
	em            *vt.Emulator
	width, height int
	lines         int // of the last frame, as the renderer counts
}

func newRig(t *testing.T, width, height int, reflows bool) *rig {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	rig := &rig{t: t, r: r, em: vt.NewEmulator(width, height), width: width, height: height}
	rig.Writer = New(Config{Out: w, Reflows: reflows, Size: func() (int, int, error) { return rig.width, rig.height, nil }})
	t.Cleanup(func() { w.Close(); r.Close() })
	return rig
}

// show moves what was written to the emulator and returns it.
func (r *rig) show() string {
	r.t.Helper()
	r.File.WriteString("\x00") // a pipe can not be asked what is in it
	var out []byte
	buf := make([]byte, 64<<10)
	for !strings.HasSuffix(string(out), "\x00") {
		n, err := r.r.Read(buf)
		if err != nil {
			r.t.Fatal(err)
		}
		out = append(out, buf[:n]...)
	}
	out = out[:len(out)-1]
	r.em.Write(out)
	return string(out)
}

// draws writes a frame that draws every line, as the renderer does after a print or
// a change of size. Lines of printed come before it.
func (r *rig) draws(row, column int, printed []string, view ...string) string {
	r.t.Helper()
	var b strings.Builder
	if r.lines > 1 {
		b.WriteString("\x1b[" + strconv.Itoa(r.lines-1) + "A")
	}
	for _, l := range printed {
		b.WriteString(l + "\x1b[K\r\n")
	}
	f := Frame{Width: r.width, Height: r.height, Row: row, Column: column, Generation: 1}
	for _, l := range view {
		f.Lines = append(f.Lines, len(l))
	}
	b.WriteString("\r" + strings.Join(view, "\x1b[K\r\n") + Mark(f) + "\x1b[K")
	if r.lines > len(view) {
		b.WriteString("\x1b[J")
	}
	r.lines = len(view)
	io.WriteString(r.Writer, b.String()+"\r")
	return r.show()
}

func (r *rig) screen() []string {
	var lines []string
	for _, l := range r.em.Scrollback().Lines() {
		lines = append(lines, strings.TrimRight(l.String(), " "))
	}
	for l := range strings.SplitSeq(r.em.String(), "\n") {
		lines = append(lines, strings.TrimRight(l, " "))
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func (r *rig) shows(want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.screen()); diff != "" {
		r.t.Error(diff)
	}
}

func TestMarkRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		f := Frame{Width: rapid.IntRange(0, 999).Draw(t, "w"), Height: rapid.IntRange(0, 999).Draw(t, "h"), Row: rapid.IntRange(-1, 99).Draw(t, "r"),
			Column: rapid.IntRange(0, 99).Draw(t, "c"), Generation: rapid.Uint64Range(0, 1<<40).Draw(t, "g"), Lines: rapid.SliceOfN(rapid.IntRange(0, 300), 1, 40).Draw(t, "l")}
		rest, got, ok := cutMark([]byte("before" + Mark(f) + "after"))
		if diff := cmp.Diff(f, got); diff != "" || !ok || string(rest) != "beforeafter" {
			t.Fatalf("%v %q %s", ok, rest, diff)
		}
	})
	if _, _, ok := cutMark([]byte("x\x1b_car;1;2\x1b\\")); ok {
		t.Error("half a mark was taken")
	}
}

// P-TERM-3: the cursor stands at the caret; printing keeps what is printed once.
func TestFramesPrintsAndCaret(t *testing.T) {
	t.Parallel()
	r := newRig(t, 40, 10, false)
	raw := r.draws(0, 3, nil, "> ab", "status")
	if !strings.HasPrefix(raw, beginSync) || !strings.HasSuffix(raw, endSync) || strings.Contains(raw, "car;") {
		t.Errorf("wrote %q", raw)
	}
	if at := r.em.CursorPosition(); at.X != 3 || at.Y != 0 {
		t.Errorf("the cursor is at %v", at)
	}
	r.draws(2, 5, []string{"one", "two"}, "live", "more", "> abcd", "status")
	r.shows("one", "two", "live", "more", "> abcd", "status")
	r.draws(1, 0, []string{"three"}, "live", "status")
	r.shows("one", "two", "three", "live", "status")
	if at := r.em.CursorPosition(); at.X != 0 || at.Y != 4 {
		t.Errorf("the cursor is at %v", at)
	}
}

// A frame in which nothing but the mark of the last line changed does not write that
// line again; one that skips lines leaves them.
func TestUnchangedLinesAreNotWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t, 40, 10, false)
	r.draws(0, 3, nil, "> a", "a long status line")
	mark := Mark(Frame{Width: 40, Height: 10, Row: 0, Column: 4, Lines: []int{4, 18}})
	io.WriteString(r.Writer, "\x1b[1A> ab\x1b[K\r\na long status line"+mark+"\x1b[K\r")
	raw := r.show()
	if strings.Contains(raw, "status") {
		t.Errorf("wrote %q", raw)
	}
	io.WriteString(r.Writer, "\x1b[1A> abc\x1b[K\r\n\r") // the renderer skips the last line
	r.show()
	r.shows("> abc", "a long status line")
}

// P-TERM-3: a list that closes leaves no ghosts, also where the last line is the same
// in a frame that shrank and in one that shrinks again.
func TestShrinkingTwiceLeavesNoGhosts(t *testing.T) {
	t.Parallel()
	r := newRig(t, 40, 10, false)
	r.draws(0, 2, nil, "> /", "one", "two", "three", "four", "")
	for _, view := range [][]string{{"> /", "one", "two", "three", ""}, {"> /", ""}} {
		f := Frame{Width: 40, Height: 10, Row: 0, Column: 3}
		for _, l := range view {
			f.Lines = append(f.Lines, len(l))
		}
		skipped := strings.Repeat("\n", len(view)-1) // the renderer leaves out lines that are as they were
		io.WriteString(r.Writer, "\x1b["+strconv.Itoa(r.lines-1)+"A"+skipped+Mark(f)+"\x1b[K\x1b[J\r")
		r.lines = len(view)
		r.show()
	}
	r.shows("> /")
}

// B065: a frame made for another size is dropped, what it prints is not.
func TestFrameForAnotherSizeIsDropped(t *testing.T) {
	t.Parallel()
	r := newRig(t, 40, 10, false)
	r.draws(0, 2, nil, "> ", "status")
	stale := "\x1b[1Aprinted\x1b[K\r\n\r> x\x1b[K\r\nstatus" + Mark(Frame{Width: 40, Height: 10, Lines: []int{3, 6}}) + "\r"
	dropped := 0
	r.dropped = func() { dropped++ }
	r.width = 30
	io.WriteString(r.Writer, stale)
	if raw := r.show(); raw != "" {
		t.Errorf("wrote %q", raw)
	}
	r.width = 40
	io.WriteString(r.Writer, "\x1b[1A> xy\x1b[K\r\n\r") // not all of it: the renderer believes more is there
	if raw := r.show(); raw != "" {
		t.Errorf("wrote %q", raw)
	}
	if dropped != 2 {
		t.Errorf("%d of 2 dropped frames were told", dropped)
	}
	r.draws(0, 4, nil, "> xy", "status")
	r.shows("printed", "> xy", "status")
}

// P-TERM-2: when the renderer leaves, all that was drawn goes, and what was kept back
// is printed; our modes follow Bubble Tea's own.
func TestLeaving(t *testing.T) {
	t.Parallel()
	r := newRig(t, 40, 10, false)
	io.WriteString(r.Writer, pasteOn)
	r.draws(0, 2, []string{"finished"}, "> ", "one", "status")
	io.WriteString(r.Writer, eraseLine)
	io.WriteString(r.Writer, "\r")
	io.WriteString(r.Writer, pasteOff)
	raw := r.show()
	r.shows("finished")
	if at := r.em.CursorPosition(); at.X != 0 || at.Y != 1 {
		t.Errorf("the shell would go on at %v", at)
	}
	if !strings.Contains(raw, pasteOff+keysOff) {
		t.Errorf("wrote %q", raw)
	}
	// Back again, the next frame begins where the cursor is.
	io.WriteString(r.Writer, "\x1b[2A> again\x1b[K\r\nstatus"+Mark(Frame{Width: 40, Height: 10, Lines: []int{7, 6}, Row: -1})+"\r")
	r.show()
	r.shows("finished", "> again", "status")
}

func TestAwait(t *testing.T) {
	t.Parallel()
	r := newRig(t, 40, 10, false)
	got := make(chan bool)
	go func() { got <- r.Await(t.Context(), 1) }()
	r.draws(0, 0, nil, "x")
	if !<-got || !r.Await(t.Context(), 1) {
		t.Error("a frame that was drawn was not reported")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r.Await(ctx, 2) {
		t.Error("a frame was reported that was not drawn")
	}
}

// B065: how far up everything of ours begins after a change of size.
func TestMoveTo(t *testing.T) {
	t.Parallel()
	at := func() geometry {
		return geometry{width: 120, height: 40, lines: []int{100, 30, 50, 90}, row: 2, column: 45}
	}
	for _, c := range []struct {
		name          string
		width, height int
		reflows       bool
		up            int
		ghosts        []int
	}{
		{"wider", 160, 40, true, 2, nil},
		{"narrower, nothing folds", 110, 40, true, 2, nil},
		{"narrower, the first line folds", 60, 40, true, 3, nil},
		{"the caret's own line folds before it", 40, 40, true, 3 + 1 + 1, nil},
		{"no reflow", 40, 40, false, 2, nil},
		{"lower, from below the cursor first", 120, 39, true, 2, nil},
		{"too low for all", 120, 2, true, 1, []int{100}},
		{"too small for a line", 20, 4, true, 3, []int{100, 20}},
		{"one cell", 1, 1, true, 0, []int{100, 30, 45}},
	} {
		g := at()
		up := g.moveTo(c.width, c.height, c.reflows)
		if up != c.up {
			t.Errorf("%s: %d rows up, want %d", c.name, up, c.up)
		}
		if diff := cmp.Diff(c.ghosts, g.ghosts); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
	// What went out of reach is erased when a larger screen brings it back.
	g := at()
	g.moveTo(120, 2, true)
	g.lines, g.row, g.column = []int{10, 10}, 0, 0
	if up := g.moveTo(120, 40, true); up != 1 || g.ghosts != nil {
		t.Errorf("%d rows up, ghosts %v", up, g.ghosts)
	}
	empty := geometry{}
	if up := empty.moveTo(10, 10, true); up != 0 {
		t.Errorf("nothing was drawn, and it goes %d rows up", up)
	}
}
