package dispatch

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// How much of a command's output is kept (T-SHELL-8).
const (
	headBytes  = 64 << 10
	tailBytes  = 192 << 10
	spoolBytes = 64 << 20
)

// capture keeps both ends of a stream in memory and, once the middle would be
// lost, all of it in a spool up to a cap. Safe for one writer and any readers.
type capture struct {
	open func() (io.WriteCloser, string, error)

	mu      sync.Mutex
	head    []byte
	tail    []byte // a ring once it is full: start is its oldest byte
	start   int
	total   int64
	spool   io.WriteCloser
	path    string
	spooled int64
	err     error
	closed  bool
}

func newCapture(open func() (io.WriteCloser, string, error)) *capture { return &capture{open: open} }

// Write keeps p. It never fails, so that a full disk does not end a command; a
// spool that could not be written is named by Close.
func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(p)
	if c.spool == nil && c.err == nil && c.total+int64(n) > headBytes+tailBytes {
		c.openSpool()
	}
	c.toSpool(p)
	c.total += int64(n)
	if room := headBytes - len(c.head); room > 0 {
		k := min(room, len(p))
		c.head, p = append(c.head, p[:k]...), p[k:]
	}
	c.toTail(p)
	return n, nil
}

// openSpool starts the file with everything kept so far, which is still whole.
func (c *capture) openSpool() {
	c.spool, c.path, c.err = c.open()
	if c.err == nil {
		c.toSpool(c.head)
		c.toSpool(c.ordered())
	}
}

// keepAll starts the spool of an output that will be read in pieces (D-37).
func (c *capture) keepAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.spool == nil && c.err == nil && !c.closed {
		c.openSpool()
	}
}

// Piece is at most limit bytes from byte since on, or from the first one after it that
// is still kept. open reads a spool.
func (c *capture) Piece(since int64, limit int, open func(path string) (io.ReaderAt, func() error, error)) (from int64, text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	since = min(max(since, 0), c.total)
	head, tail := int64(len(c.head)), c.total-int64(len(c.tail))
	switch {
	case since < head:
		text = bytes.Clone(c.head[since:min(head, since+int64(limit))])
	case since >= tail:
		text = c.ordered()[since-tail:]
		text = text[:min(len(text), limit)]
	default:
		if text = c.fromSpool(since, limit, open); len(text) == 0 {
			since = tail
			text = c.ordered()
			text = text[:min(len(text), limit)]
		}
	}
	return since, text
}

func (c *capture) fromSpool(since int64, limit int, open func(string) (io.ReaderAt, func() error, error)) []byte {
	if c.path == "" || since >= c.spooled {
		return nil
	}
	r, done, err := open(c.path)
	if err != nil {
		return nil
	}
	defer done()
	buf := make([]byte, min(int64(limit), c.spooled-since))
	n, _ := r.ReadAt(buf, since) // what could be read is what there is
	return buf[:n]
}

func (c *capture) toSpool(p []byte) {
	if c.spool == nil || c.err != nil {
		return
	}
	p = p[:min(int64(len(p)), spoolBytes-c.spooled)]
	n, err := c.spool.Write(p)
	c.spooled += int64(n)
	c.err = err
}

func (c *capture) toTail(p []byte) {
	if len(p) >= tailBytes {
		c.tail, c.start = append(c.tail[:0], p[len(p)-tailBytes:]...), 0
		return
	}
	if room := tailBytes - len(c.tail); room > 0 && c.start == 0 {
		k := min(room, len(p))
		c.tail, p = append(c.tail, p[:k]...), p[k:]
	}
	for len(p) > 0 {
		k := copy(c.tail[c.start:], p)
		p = p[k:]
		c.start = (c.start + k) % tailBytes
	}
}

// ordered is the tail from its oldest byte on.
func (c *capture) ordered() []byte {
	return append(bytes.Clone(c.tail[c.start:]), c.tail[:c.start]...)
}

// Text is what was kept, with a line that counts what was not, cut at rune borders.
func (c *capture) Text() (text string, truncated bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	lost := c.total - int64(len(c.head)) - int64(len(c.tail))
	if lost <= 0 {
		return strings.ToValidUTF8(string(c.head)+string(c.ordered()), "\uFFFD"), false
	}
	gap := fmt.Sprintf("\n…[%d bytes elided from the middle of %d]…\n", lost, c.total)
	return strings.ToValidUTF8(string(c.head)+gap+string(c.ordered()), ""), true
}

// Total counts all bytes that came.
func (c *capture) Total() int64 { c.mu.Lock(); defer c.mu.Unlock(); return c.total }

// Path names the spool, empty while none was needed.
func (c *capture) Path() string { c.mu.Lock(); defer c.mu.Unlock(); return c.path }

// LastLine is the last line so far, at most 512 bytes of it (A-EVT).
func (c *capture) LastLine() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	recent := c.head
	if len(c.tail) > 0 {
		recent = c.ordered()
	}
	recent = bytes.TrimRight(recent[max(0, len(recent)-4096):], "\n")
	if i := bytes.LastIndexByte(recent, '\n'); i >= 0 {
		recent = recent[i+1:]
	}
	return strings.ToValidUTF8(string(recent[max(0, len(recent)-512):]), "")
}

// Close closes the spool. A spool that failed is dropped from the answer, not
// the command's own result: the output in memory stands.
func (c *capture) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.spool == nil {
		return nil
	}
	if err := c.spool.Close(); err != nil || c.err != nil {
		c.path = ""
	}
	return nil
}
