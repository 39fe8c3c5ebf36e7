package redact

import (
	"slices"
	"strings"
	"sync"
)

// Mask stands where a secret stood.
const Mask = "[REDACTED]"

// Redactor masks secrets. It is immutable and safe for concurrent use.
type Redactor struct {
	exact []string
	// shapes are compiled when the first line is read, so that a start which
	// prints nothing pays nothing.
	shapes func() *shapeSet
}

// New returns a redactor that knows the general shapes and these exact values,
// which are masked raw, base64-encoded and URL-escaped when they have at least
// 8 characters (T-RED-3).
func New(exact []string) *Redactor {
	return &Redactor{exact: spellings(exact), shapes: sync.OnceValue(newShapeSet)}
}

// String returns s with every secret masked, and how many there were.
func (r *Redactor) String(s string) (string, int) {
	var b strings.Builder
	var st state
	hits := 0
	for rest := s; rest != ""; {
		line := rest
		if i := strings.IndexByte(rest, '\n'); i >= 0 {
			line = rest[:i+1]
		}
		rest = rest[len(line):]
		if len(line) > maxLine {
			// As the writer does, so that both agree on lines beyond any bound.
			w := r.Writer(&b)
			w.state = st
			if _, err := w.Write([]byte(line)); err == nil {
				err = w.Close()
				_ = err // a strings.Builder takes everything
			}
			st, hits = w.state, hits+w.hits
			continue
		}
		text, n := r.mask(&st, line)
		b.WriteString(text)
		hits += n
	}
	return b.String(), hits
}

// span is a part of a line to mask.
type span struct{ from, to int }

// state is what one line leaves to the next.
type state struct {
	// key is true within a private key block.
	key bool
	// block is true after a line that is nothing but an encoded block.
	block bool
}

// mask returns one line, with its line end, masked.
func (r *Redactor) mask(st *state, line string) (string, int) {
	spans := r.line(st, line)
	if len(spans) == 0 {
		return line, 0
	}
	var b strings.Builder
	at := 0
	for _, s := range spans {
		b.WriteString(line[at:s.from])
		b.WriteString(Mask)
		at = s.to
	}
	b.WriteString(line[at:])
	return b.String(), len(spans)
}

// line returns the spans to mask, in order and apart.
func (r *Redactor) line(st *state, line string) []span {
	end := len(strings.TrimRight(line, "\r\n"))
	body := line[:end]
	spans, all := privateKey(st, body)
	if !all {
		for _, v := range r.exact {
			spans = appendAll(spans, body, v)
		}
		set := r.shapes()
		spans = set.find(spans, body)
		if low := asciiLower(body); hints(low) {
			spans = named(spans, body)
			spans = headers(spans, body, low)
			spans = phrases(spans, body, low)
		}
		spans = urls(spans, body)
		spans = options(spans, body)
		spans = random(st, spans, body)
	}
	return merge(spans, body)
}

func appendAll(spans []span, line, value string) []span {
	for at := 0; ; {
		i := strings.Index(line[at:], value)
		if i < 0 {
			return spans
		}
		spans = append(spans, span{at + i, at + i + len(value)})
		at += i + len(value)
	}
}

// merge sorts spans, joins those that touch and drops what is masked already.
func merge(spans []span, line string) []span {
	if len(spans) == 0 {
		return nil
	}
	slices.SortFunc(spans, func(a, b span) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return b.to - a.to
	})
	var out []span
	for _, s := range spans {
		if s.from >= s.to || line[s.from:s.to] == Mask {
			continue
		}
		if n := len(out); n > 0 && s.from <= out[n-1].to {
			out[n-1].to = max(out[n-1].to, s.to)
			continue
		}
		out = append(out, s)
	}
	return out
}

// asciiLower is lower case for ASCII only, byte by byte, so that positions stay.
func asciiLower(s string) string {
	b := []byte(s)
	for i, ch := range b {
		if upper(ch) {
			b[i] = ch + 'a' - 'A'
		}
	}
	return string(b)
}
