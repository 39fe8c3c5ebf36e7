package safe

import "io"

// Writer filters everything written to it on the way to another writer. It keeps
// a Stream's state between writes, so that a sequence split over two of them is
// caught. It has one user.
type Writer struct {
	to     io.Writer
	stream Stream
}

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{to: w} }

// Write filters p. It reports all of p as written unless the writer below fails.
func (w *Writer) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.stream.Add(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what the last piece left open, such as a lone carriage return. Call
// it where a text ends.
func (w *Writer) Flush() error {
	_, err := io.WriteString(w.to, w.stream.Flush())
	return err
}
