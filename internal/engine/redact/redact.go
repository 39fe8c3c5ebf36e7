package redact

import (
	"io"
	"strings"
)

// Mask stands where a secret stood.
const Mask = "[REDACTED]"

// Redactor masks secrets. It is immutable and safe for concurrent use.
type Redactor struct {
	exact *strings.Replacer
	list  []string
}

// New returns a redactor that knows the general shapes and these exact values,
// which are masked raw, base64-encoded and URL-escaped when they have at least
// 8 characters (T-RED-3).
func New(exact []string) *Redactor {
	r := &Redactor{}
	var pairs []string
	for _, v := range exact {
		if len(v) >= 8 {
			r.list = append(r.list, v)
			pairs = append(pairs, v, Mask)
		}
	}
	r.exact = strings.NewReplacer(pairs...)
	return r
}

// String returns s with every secret masked and how many were.
func (r *Redactor) String(s string) (string, int) {
	n := 0
	for _, v := range r.list {
		n += strings.Count(s, v)
	}
	return r.exact.Replace(s), n
}

// Writer returns a writer that passes on what is written to it with every
// secret masked, also one that is split over two writes. Close flushes; it does
// not close w.
func (r *Redactor) Writer(w io.Writer) *Writer { return &Writer{r: r, w: w} }

// Writer redacts a stream. It is not safe for concurrent use.
type Writer struct {
	r    *Redactor
	w    io.Writer
	buf  []byte
	hits int
}

// Write takes text in. An error is that of the writer below.
func (w *Writer) Write(p []byte) (int, error) {
	w.buf = append(w.buf, p...)
	return len(p), nil
}

// Close passes on what is still held back.
func (w *Writer) Close() error {
	text, n := w.r.String(string(w.buf))
	w.hits, w.buf = w.hits+n, nil
	_, err := io.WriteString(w.w, text)
	return err
}

// Hits counts the secrets that were masked so far.
func (w *Writer) Hits() int { return w.hits }

// SecretName reports whether a variable, member or header of this name is
// expected to hold a secret (T-RED-1, T-SHELL-6).
func SecretName(name string) bool {
	name = strings.ToUpper(name)
	for _, part := range []string{"_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "OPENAI_", "ANTHROPIC_", "AZURE_CLIENT_", "GITHUB_TOKEN", "CONNECTION_STRING"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}
