package screen

import (
	"bytes"
	"context"
	"os"
	"strconv"
	"sync"

	"golang.org/x/term"
)

// Sequences that are written around what the renderer wrote.
const (
	beginSync  = "\x1b[?2026h"
	endSync    = "\x1b[?2026l"
	hideCursor = "\x1b[?25l"
	showCursor = "\x1b[?25h"
	eraseRight = "\x1b[K"

	// A drawn line takes one row even where the terminal thinks its letters wider.
	wrapOff, wrapOn = "\x1b[?7l", "\x1b[?7h"

	saveCursor, restoreCursor = "\x1b7", "\x1b8"

	// What Bubble Tea writes when it takes and gives back the terminal.
	pasteOn, pasteOff = "\x1b[?2004h", "\x1b[?2004l"
	eraseLine         = "\x1b[2K"

	// Keys with modifiers, such as shift+enter, are told apart where the terminal can.
	keysOn, keysOff = "\x1b[>4;1m", "\x1b[>4;0m"
)

// Config makes a Writer.
type Config struct {
	// Out is the terminal.
	Out *os.File
	// Reflows says that the terminal breaks lines anew when its width changes.
	Reflows bool
	// Size asks for the terminal's size; nil asks the terminal behind Out.
	Size func() (width, height int, err error)
	// Dropped is called for every frame that was not drawn: the renderer believes it
	// is on the screen, and has to be made to draw everything again, as it does for a
	// new size. It is called within Write and must not wait. nil calls nothing.
	Dropped func()
}

// Writer is the terminal as Bubble Tea's output. It is an *os.File to those who ask
// for its descriptor.
type Writer struct {
	*os.File
	reflows bool
	size    func() (int, int, error)
	dropped func()

	mu    sync.Mutex // guards all below
	frame Frame      // the last one that was drawn
	at    geometry
	last  []byte // the last line of it, as written
	// drawn says that a frame is on the screen; lost that the renderer believes
	// something is there which is not, until it draws everything again.
	drawn, lost bool
	kept        []byte // lines of dropped frames, to be printed yet
	painted     uint64
	waiting     map[chan struct{}]uint64
}

// New makes a Writer.
func New(c Config) *Writer {
	w := &Writer{File: c.Out, reflows: c.Reflows, size: c.Size, dropped: c.Dropped, waiting: map[chan struct{}]uint64{}}
	if w.size == nil {
		w.size = func() (int, int, error) { return term.GetSize(int(c.Out.Fd())) }
	}
	return w
}

// Write takes what the renderer wrote, one frame or one control sequence at a time.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []byte
	if len(p) > 1 && p[len(p)-1] == '\r' {
		out = w.framed(p)
	} else {
		out = w.control(p)
	}
	if len(out) == 0 {
		return len(p), nil
	}
	if _, err := w.File.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString is Write; without it the file's own would be taken, past everything
// that Write does.
func (w *Writer) WriteString(s string) (int, error) { return w.Write([]byte(s)) }

// Await returns when a frame of that generation or a later one is on the screen, and
// reports whether it is; the context may end first.
func (w *Writer) Await(ctx context.Context, generation uint64) bool {
	w.mu.Lock()
	if w.painted >= generation {
		w.mu.Unlock()
		return true
	}
	ready := make(chan struct{}) // closed by Write, received here
	w.waiting[ready] = generation
	w.mu.Unlock()
	select {
	case <-ready:
		return true
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.waiting, ready)
		return false
	}
}

// control passes a sequence on. Before the line of the cursor is erased, which is how
// the renderer leaves, all of the last frame is.
func (w *Writer) control(p []byte) []byte {
	switch string(p) {
	case eraseLine:
		out := w.toTop()
		w.frame, w.at, w.last, w.drawn, w.lost = Frame{}, geometry{}, nil, false, false
		out = append(out, w.kept...)
		w.kept = nil
		return append(out, p...)
	case pasteOn:
		return append(append([]byte{}, p...), keysOn...)
	case pasteOff:
		return append(append([]byte{}, p...), keysOff...)
	}
	return p
}

// toTop moves to the top left of what is drawn and erases it.
func (w *Writer) toTop() []byte {
	if !w.drawn {
		return nil
	}
	up := w.at.row
	if width, height, err := w.size(); err == nil && (width != w.at.width || height != w.at.height) {
		up = w.at.moveTo(width, height, w.reflows)
	}
	return erase(up, w.at.height)
}

// erase moves up and erases from there to the end of the screen. The first row is
// erased by itself: multiplexers take erasing everything from the very top for a
// clear screen and push it into the scrollback.
func erase(up, height int) []byte {
	out := append([]byte("\r"), move(up, 'A')...)
	if height == 1 {
		return append(out, eraseRight...)
	}
	return append(out, eraseRight+saveCursor+"\x1b[B\x1b[J"+restoreCursor...)
}

func move(n int, direction byte) []byte {
	if n <= 0 {
		return nil
	}
	out := append([]byte("\x1b["), strconv.Itoa(n)...)
	return append(out, direction)
}

// framed turns a frame of the renderer into what the terminal needs.
func (w *Writer) framed(p []byte) []byte {
	body, f, marked := cutMark(bytes.TrimSuffix(cutUp(p), []byte("\r")))
	if !marked {
		f = w.frame // its last line is as it was, and with it the whole layout
	}
	printed, view := cutPrinted(body, len(f.Lines), marked)
	whole := bytes.HasPrefix(view, []byte("\r")) // a frame which draws every line begins so
	width, height, err := w.size()
	if err == nil && (width != f.Width || height != f.Height) || w.lost && !whole {
		w.drop(printed)
		return nil
	}
	out := append([]byte(beginSync+hideCursor), w.start(f, len(printed) > 0 || whole)...)
	out = append(append(out, w.kept...), printed...)
	if len(printed)+len(w.kept) > 0 {
		w.at.ghosts = nil // what was printed stands between us and them
	}
	w.kept, w.lost = nil, false
	out = append(append(append(out, wrapOff...), w.lastLineOnce(view, whole || len(f.Lines) != len(w.at.lines))...), wrapOn...)
	out = append(out, w.place(f)...)
	w.settle(f)
	return append(out, endSync...)
}

// drop keeps what a frame prints for good and forgets the rest of it.
func (w *Writer) drop(printed []byte) {
	w.kept, w.lost = append(w.kept, printed...), true
	if w.dropped != nil {
		w.dropped()
	}
}

// start moves to where the frame begins. A frame that draws everything finds the
// place erased.
func (w *Writer) start(f Frame, clean bool) []byte {
	if !w.drawn {
		return []byte("\r")
	}
	up := w.at.row
	if f.Width != w.at.width || f.Height != w.at.height {
		up = w.at.moveTo(f.Width, f.Height, w.reflows)
		clean = true
	}
	if clean {
		return erase(up, w.at.height)
	}
	return append([]byte("\r"), move(up, 'A')...)
}

// lastLineOnce leaves the last line out of a frame in which only the mark of it
// changed. It is somewhere else in a frame of another height, which says so by moved.
func (w *Writer) lastLineOnce(view []byte, moved bool) []byte {
	at := bytes.LastIndexByte(view, '\n') + 1
	line := view[at:]
	if !moved && bytes.Equal(line, w.last) {
		return view[:at]
	}
	if len(line) > 0 {
		w.last = bytes.Clone(line)
	}
	return view
}

// place puts the cursor at the caret.
func (w *Writer) place(f Frame) []byte {
	out := []byte("\r")
	if f.Row < 0 || f.Row >= len(f.Lines) {
		return out
	}
	out = append(out, move(len(f.Lines)-1-f.Row, 'A')...)
	return append(append(out, move(f.Column, 'C')...), showCursor...)
}

func (w *Writer) settle(f Frame) {
	w.frame, w.drawn = f, true
	w.at.width, w.at.height, w.at.lines = f.Width, f.Height, f.Lines
	w.at.row, w.at.column = f.Row, f.Column
	if f.Row < 0 || f.Row >= len(f.Lines) {
		w.at.row, w.at.column = max(len(f.Lines)-1, 0), 0
	}
	w.painted = max(w.painted, f.Generation)
	for ready, generation := range w.waiting {
		if w.painted >= generation {
			close(ready)
			delete(w.waiting, ready)
		}
	}
}

// cutUp takes the renderer's own move to the top off a frame.
func cutUp(p []byte) []byte {
	if !bytes.HasPrefix(p, []byte("\x1b[")) {
		return p
	}
	for i := 2; i < len(p); i++ {
		if p[i] == 'A' {
			return p[i+1:]
		}
		if p[i] < '0' || p[i] > '9' {
			break
		}
	}
	return p
}

// cutPrinted parts the lines that are printed for good from those of the view, which
// are the last ones. Only a frame with a mark has printed lines: printing makes the
// renderer draw everything.
func cutPrinted(body []byte, lines int, marked bool) (printed, view []byte) {
	if !marked || lines == 0 {
		return nil, body
	}
	at := len(body)
	for range lines {
		i := bytes.LastIndexByte(body[:at], '\n')
		if i < 0 {
			return nil, body
		}
		at = i
	}
	return body[:at+1], body[at+1:]
}
