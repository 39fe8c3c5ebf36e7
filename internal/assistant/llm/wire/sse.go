package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Frame is one server-sent event.
type Frame struct {
	// Name is the event field, empty when there was none.
	Name string
	// Data is the data lines joined by newlines. It is valid until the next frame is read.
	Data []byte
	// Cut says that the stream ended before the event did.
	Cut bool
}

var errEventTooLarge = errors.New("an event of the stream exceeds 4 MiB")

// frames reads server-sent events. Lines end in LF, CRLF or CR; comments and
// fields it does not know are passed over.
type frames struct {
	r      *bufio.Reader
	skipLF bool
	line   []byte
	size   int
	limit  int
	name   string
	data   []byte
	any    bool
	// strange notes a line that no event stream has: the body is something else.
	strange bool
}

func newFrames(r *bufio.Reader, limit int) *frames { return &frames{r: r, limit: limit} }

// next returns the next event that has data. At the end of the stream it is
// io.EOF, after one last frame marked Cut if an event was open.
func (f *frames) next() (Frame, error) {
	f.name, f.data, f.any, f.size = "", f.data[:0], false, 0
	for {
		err := f.readLine()
		if errors.Is(err, io.EOF) {
			strange := f.strange
			f.field(f.line)
			f.strange = strange // half a line may be the beginning of any
			if f.any {
				return Frame{Name: f.name, Data: f.data, Cut: true}, nil
			}
			return Frame{}, io.EOF
		}
		if err != nil {
			return Frame{}, err
		}
		if len(f.line) > 0 {
			f.field(f.line)
			continue
		}
		if f.any {
			return Frame{Name: f.name, Data: f.data}, nil
		}
		f.name, f.size = "", 0
	}
}

// readLine reads up to the next line end. The size counts the whole event, so
// that neither a long line nor many lines can grow without bound.
func (f *frames) readLine() error {
	f.line = f.line[:0]
	for {
		c, err := f.r.ReadByte()
		if err != nil {
			return err
		}
		skip := f.skipLF
		f.skipLF = c == '\r'
		if c == '\n' && skip {
			continue
		}
		if c == '\n' || c == '\r' {
			return nil
		}
		if f.size++; f.size > f.limit {
			return errEventTooLarge
		}
		f.line = append(f.line, c)
	}
}

var (
	byteOrderMark = []byte("\ufeff")
	colon         = []byte(":")
)

func (f *frames) field(line []byte) {
	line = bytes.TrimPrefix(line, byteOrderMark)
	name, value, _ := bytes.Cut(line, colon)
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		f.name = string(value)
	case "data":
		if f.any {
			f.data = append(f.data, '\n')
		}
		f.data = append(f.data, value...)
		f.any = true
	case "", "id", "retry": // a comment, or nothing of interest
	default:
		f.strange = true
	}
}
