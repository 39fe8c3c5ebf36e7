package redact

import (
	"bytes"
	"io"
)

// Bounds of what a Writer holds back.
const (
	// maxLine is how long a line may grow before it is passed on in pieces.
	maxLine = 64 << 10
	// keepTail is what stays behind of such a piece, so that a secret on its border
	// is seen whole.
	keepTail = 8 << 10
)

// Writer returns a writer that passes on what is written to it with every
// secret masked, also one that is split over two writes. It holds back at most
// one line, and of a line without end at most 64 KiB. Close flushes; it does not
// close w.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{r: r, w: w} }

// Writer redacts a stream. It is not safe for concurrent use.
type Writer struct {
	r     *Redactor
	w     io.Writer
	buf   []byte
	state state
	hits  int
}

// Write takes text in. An error is that of the writer below.
func (w *Writer) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n') + 1
		if end == 0 {
			end = len(p)
		}
		if room := maxLine + 1 - len(w.buf); end > room {
			end = room
		}
		w.buf = append(w.buf, p[:end]...)
		p = p[end:]
		var err error
		switch {
		case w.buf[len(w.buf)-1] == '\n':
			err = w.flush(len(w.buf))
		case len(w.buf) > maxLine:
			err = w.flush(len(w.buf) - keepTail)
		}
		if err != nil {
			return n - len(p), err
		}
	}
	return n, nil
}

// flush masks what is held and passes on the first cut bytes of it; a secret
// across the cut goes with it whole.
func (w *Writer) flush(cut int) error {
	if len(w.buf) == 0 {
		return nil
	}
	line := string(w.buf)
	st := w.state
	spans := w.r.line(&st, line)
	var out []byte
	at := 0
	for _, s := range spans {
		if s.from >= cut {
			break
		}
		out = append(out, line[at:s.from]...)
		out = append(out, Mask...)
		at = s.to
		w.hits++
	}
	if at < cut {
		out = append(out, line[at:cut]...)
		at = cut
	}
	if at == len(line) {
		w.state = st
	}
	w.buf = append(w.buf[:0], line[at:]...)
	_, err := w.w.Write(out)
	return err
}

// Close passes on what is still held back.
func (w *Writer) Close() error { return w.flush(len(w.buf)) }

// Hits counts the secrets that were masked so far.
func (w *Writer) Hits() int { return w.hits }
