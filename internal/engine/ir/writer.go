package ir

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// textWriter writes text for a reader. It measures first and writes then, so that
// a large text is allocated once (P-8); write does both.
type textWriter struct {
	out strings.Builder
	// size grows in the first pass, in which nothing is written.
	measuring bool
	size      int
	// names is scratch for the sorted names of the objects being written, a stack.
	names []string
}

// write returns what f writes. f is called twice and must do the same each time.
func write(f func(*textWriter)) string {
	w := textWriter{measuring: true}
	f(&w)
	w.measuring = false
	w.out.Grow(w.size)
	f(&w)
	return w.out.String()
}

func (w *textWriter) text(s string) {
	if w.measuring {
		w.size += len(s)
		return
	}
	w.out.WriteString(s)
}

// sorted puts an object's names on the stack in byte order; done takes them off.
func (w *textWriter) sorted(object map[string]any) []string {
	start := len(w.names)
	w.names = slices.AppendSeq(w.names, maps.Keys(object))
	names := w.names[start:]
	slices.Sort(names)
	return names
}

func (w *textWriter) done(names []string) { w.names = w.names[:len(w.names)-len(names)] }

// compact is a value as compact JSON with names in byte order. It leaves <, > and
// & as they are: the text is for a reader, not for HTML.
func compact(v any) string {
	v = plain(v)
	return write(func(w *textWriter) { w.json(v) })
}

// json writes decoded JSON.
func (w *textWriter) json(value any) {
	switch value := value.(type) {
	case nil:
		w.text("null")
	case bool:
		w.text(strconv.FormatBool(value))
	case float64:
		w.number(value)
	case string:
		w.quoted(value)
	case []any:
		w.text("[")
		for i, item := range value {
			if i > 0 {
				w.text(",")
			}
			w.json(item)
		}
		w.text("]")
	case map[string]any:
		w.text("{")
		names := w.sorted(value)
		for i, name := range names {
			if i > 0 {
				w.text(",")
			}
			w.quoted(name)
			w.text(":")
			w.json(value[name])
		}
		w.done(names)
		w.text("}")
	default:
		w.typed(value)
	}
}

// typed writes a Go value by its JSON; what has none is named by its type.
func (w *textWriter) typed(value any) {
	switch decoded := plain(value).(type) {
	case nil, bool, float64, string, []any, map[string]any:
		w.json(decoded)
	default:
		w.quoted(fmt.Sprintf("%T", value))
	}
}

// number writes whole numbers, which most are, without an allocation.
func (w *textWriter) number(f float64) {
	var digits [24]byte
	if f == math.Trunc(f) && math.Abs(f) <= maxExactInteger && f != 0 {
		w.bytes(strconv.AppendInt(digits[:0], int64(f), 10))
		return
	}
	text, err := json.Marshal(f)
	if err != nil {
		w.quoted(err.Error())
		return
	}
	w.bytes(text)
}

func (w *textWriter) bytes(b []byte) {
	if w.measuring {
		w.size += len(b)
		return
	}
	w.out.Write(b)
}

// quoted writes a JSON string with the escapes that JSON asks for and no others.
func (w *textWriter) quoted(s string) {
	w.text(`"`)
	plainFrom := 0
	for i, r := range s {
		escape := escapeOf(s, i, r)
		if escape == "" {
			continue
		}
		w.text(s[plainFrom:i])
		w.text(escape)
		_, size := utf8.DecodeRuneInString(s[i:])
		plainFrom = i + size
	}
	w.text(s[plainFrom:])
	w.text(`"`)
}

// escapeOf is the escape for the rune at i, empty for one that needs none.
func escapeOf(s string, i int, r rune) string {
	switch {
	case r == '"':
		return `\"`
	case r == '\\':
		return `\\`
	case r == '\n':
		return `\n`
	case r == '\t':
		return `\t`
	case r == '\r':
		return `\r`
	case r < ' ':
		const hex = "0123456789abcdef"
		return `\u00` + string([]byte{hex[r>>4], hex[r&15]})
	case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
		return "\uFFFD" // a byte that is no UTF-8
	}
	return ""
}
