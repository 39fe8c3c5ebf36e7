package dispatch

import (
	"io"
	"strconv"
	"unicode/utf8"
)

// cleaner turns what a process says into plain text: terminal sequences go,
// progress written over itself with a carriage return keeps its last state,
// other control bytes become visible, broken UTF-8 becomes U+FFFD (T-SHELL-8).
// It keeps its state between writes, so a split sequence is caught too.
type cleaner struct {
	w     io.Writer
	state seqState
	line  []byte
	// overwrite says that a carriage return came: the next byte starts the line again unless it is a newline.
	overwrite bool
	part      []byte // an unfinished UTF-8 sequence
}

type seqState uint8

const (
	seqNone    seqState = iota
	seqEscape           // after ESC
	seqControl          // CSI: until a final byte
	seqString           // OSC, DCS, APC, PM, SOS: until BEL or ST
	seqStringEscape
	seqCharset // ESC and an intermediate byte: one more
)

// lineBytes bounds a line that is held back for carriage returns.
const lineBytes = 16 << 10

func newCleaner(w io.Writer) *cleaner { return &cleaner{w: w} }

// Write takes raw bytes in.
func (c *cleaner) Write(p []byte) (int, error) {
	for _, b := range p {
		c.take(b)
		if len(c.line) >= lineBytes || len(c.line) > 0 && c.line[len(c.line)-1] == '\n' {
			if err := c.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(p), nil
}

// Close passes on the last line.
func (c *cleaner) Close() error {
	c.breakPart()
	return c.flush()
}

func (c *cleaner) flush() error {
	_, err := c.w.Write(c.line)
	c.line = c.line[:0]
	return err
}

func (c *cleaner) take(b byte) {
	switch c.state {
	case seqNone:
		c.plain(b)
	case seqEscape:
		c.afterEscape(b)
	case seqControl:
		switch {
		case b == 0x1b:
			c.state = seqEscape
		case b >= 0x40 && b <= 0x7e:
			c.state = seqNone
		}
	case seqString:
		switch b {
		case 0x07, '\n':
			c.state = seqNone
		case 0x1b:
			c.state = seqStringEscape
		}
	case seqStringEscape:
		c.state = seqNone
		if b != '\\' {
			c.afterEscape(b)
		}
	case seqCharset:
		c.state = seqNone
	}
}

func (c *cleaner) afterEscape(b byte) {
	switch {
	case b == '[':
		c.state = seqControl
	case b == ']' || b == 'P' || b == 'X' || b == '^' || b == '_':
		c.state = seqString
	case b >= 0x20 && b <= 0x2f:
		c.state = seqCharset
	default:
		c.state = seqNone
	}
}

func (c *cleaner) plain(b byte) {
	if b >= utf8.RuneSelf {
		c.startOver()
		c.multibyte(b)
		return
	}
	c.breakPart()
	switch {
	case b == 0x1b:
		c.state = seqEscape
	case b == '\r':
		c.overwrite = true
	case b == '\n':
		c.overwrite = false
		c.line = append(c.line, b)
	case b == '\t' || b >= 0x20 && b != 0x7f:
		c.startOver()
		c.line = append(c.line, b)
	default:
		c.startOver()
		c.line = append(c.line, `\x`+strconv.FormatUint(uint64(b)+0x100, 16)[1:]...)
	}
}

// startOver drops the line that a carriage return went back over.
func (c *cleaner) startOver() {
	if c.overwrite {
		c.line, c.overwrite = c.line[:0], false
	}
}

func (c *cleaner) multibyte(b byte) {
	if len(c.part) > 0 && utf8.RuneStart(b) {
		c.breakPart()
	}
	c.part = append(c.part, b)
	if !utf8.FullRune(c.part) {
		return
	}
	r, _ := utf8.DecodeRune(c.part)
	c.part = c.part[:0]
	if r >= 0x80 && r <= 0x9f { // C1 controls are terminal sequences too
		c.line = append(c.line, `\x`+strconv.FormatUint(uint64(r), 16)...)
		return
	}
	c.line = utf8.AppendRune(c.line, r)
}

// breakPart gives up on a sequence that was not finished.
func (c *cleaner) breakPart() {
	if len(c.part) > 0 {
		c.part = c.part[:0]
		c.line = append(c.line, "\uFFFD"...)
	}
}
