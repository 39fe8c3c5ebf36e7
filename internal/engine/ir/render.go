package ir

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RenderFormat names the shape that Render and FormatResult give a model, so that
// a measurement can say what its model read. It changes when the shape changes.
const RenderFormat = "text-v2"

const (
	// outcomeBytes is how much of an outcome field is shown on its line.
	outcomeBytes = 500
	// blockFrom is the length over which a string stands in a block of its own.
	blockFrom = 200
)

// Render is a tool's output as a model reads it (E-REND-2). A string stands as
// it is and any other value but an object as compact JSON. An object's fields
// come in three groups, each in byte order of the names: first those that say
// how the call went, one line each; then values on lines of their own; then long
// text and lists of records as counted blocks. A cut thus loses the bulk and
// never the verdict.
func Render(v any) string {
	fields, ok := plain(v).(map[string]any)
	if !ok {
		if text, ok := v.(string); ok {
			return text
		}
		return compact(v)
	}
	var w textWriter
	w.Grow(sizeHint(fields))
	names := slices.Sorted(maps.Keys(fields))
	for _, group := range [3]fieldGroup{groupOutcome, groupLine, groupBlock} {
		for _, name := range names {
			if groupOf(name, fields[name]) == group {
				w.field(group, name, fields[name])
			}
		}
	}
	return w.String()
}

// fieldGroup is where a field stands in a rendered object.
type fieldGroup uint8

const (
	groupOutcome fieldGroup = iota
	groupLine
	groupBlock
)

func groupOf(name string, value any) fieldGroup {
	switch name {
	case "truncated", "error", "ok", "status", "exit_code", "timed_out":
		return groupOutcome
	}
	switch value := value.(type) {
	case string:
		if len(value) > blockFrom || strings.Contains(value, "\n") {
			return groupBlock
		}
	case []any:
		if areRecords(value) {
			return groupBlock
		}
	}
	return groupLine
}

// areRecords reports a list that is not empty and holds objects only.
func areRecords(items []any) bool {
	for _, item := range items {
		if _, ok := item.(map[string]any); !ok {
			return false
		}
	}
	return len(items) > 0
}

// textWriter builds the text; its builder is grown once.
type textWriter struct{ strings.Builder }

func (w *textWriter) field(group fieldGroup, name string, value any) {
	if w.Len() > 0 {
		w.WriteByte('\n')
	}
	w.WriteString(keyText(name))
	switch value := value.(type) {
	case string:
		if group == groupBlock {
			w.header(len(value), " bytes")
			w.WriteString(value)
			return
		}
	case []any:
		if group == groupBlock {
			w.header(len(value), " records")
			w.records(value)
			return
		}
	}
	w.WriteString(": ")
	if group == groupOutcome {
		w.WriteString(outcomeText(value))
		return
	}
	w.scalar(value)
}

func (w *textWriter) header(count int, unit string) {
	w.WriteString(" (")
	w.WriteString(strconv.Itoa(count))
	w.WriteString(unit)
	w.WriteString("):\n")
}

// outcomeText keeps a verdict on one line, with both ends when it is long.
func outcomeText(value any) string {
	if text, ok := value.(string); ok {
		value = strings.ReplaceAll(text, "\n", " ")
	}
	var w textWriter
	w.scalar(value)
	return clipKeepingEnds(w.String(), outcomeBytes)
}

// scalar writes a string raw unless raw text would read back as something else
// (E-REND-3), and any other value as compact JSON.
func (w *textWriter) scalar(value any) {
	text, ok := value.(string)
	if ok && !needsQuotes(text) {
		w.WriteString(text)
		return
	}
	w.json(value)
}

func needsQuotes(text string) bool {
	return text == "" || strings.TrimSpace(text) != text || strings.Contains(text, "\n") ||
		strings.HasSuffix(text, "):") || json.Valid([]byte(text))
}

// records writes one line for each object: k=v pairs by name, two spaces apart.
func (w *textWriter) records(items []any) {
	for i, item := range items {
		if i > 0 {
			w.WriteByte('\n')
		}
		record, _ := item.(map[string]any)
		for k, name := range slices.Sorted(maps.Keys(record)) {
			if k > 0 {
				w.WriteString("  ")
			}
			w.oneLine(name)
			w.WriteByte('=')
			if text, ok := record[name].(string); ok {
				w.oneLine(text)
				continue
			}
			w.json(record[name])
		}
	}
}

// oneLine writes text with its line breaks spelled out.
func (w *textWriter) oneLine(text string) {
	for {
		line, rest, more := strings.Cut(text, "\n")
		w.WriteString(line)
		if !more {
			return
		}
		w.WriteString(`\n`)
		text = rest
	}
}

// json writes compact JSON with names in byte order. It walks decoded JSON itself
// so that a large value is not encoded into a buffer and then copied.
func (w *textWriter) json(value any) {
	switch value := value.(type) {
	case string:
		w.quoted(value)
	case []any:
		w.WriteByte('[')
		for i, item := range value {
			if i > 0 {
				w.WriteByte(',')
			}
			w.json(item)
		}
		w.WriteByte(']')
	case map[string]any:
		w.WriteByte('{')
		for i, name := range slices.Sorted(maps.Keys(value)) {
			if i > 0 {
				w.WriteByte(',')
			}
			w.quoted(name)
			w.WriteByte(':')
			w.json(value[name])
		}
		w.WriteByte('}')
	default:
		w.WriteString(encode(value))
	}
}

// quoted writes a JSON string, without a copy where nothing needs an escape.
func (w *textWriter) quoted(text string) {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			w.WriteString(encode(text))
			return
		}
	}
	w.WriteByte('"')
	w.WriteString(text)
	w.WriteByte('"')
}

// compact is a value as compact JSON.
func compact(v any) string {
	var w textWriter
	v = plain(v)
	w.Grow(sizeHint(v))
	w.json(v)
	return w.String()
}

// encode leaves <, > and & as they are: the text is for a reader, not for HTML.
func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return strconv.Quote(err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// keyText writes a name as it stands before ": " or " (": raw unless it would
// not read back as this name (E-REND-3).
func keyText(name string) string {
	first, _ := utf8.DecodeRuneInString(name)
	if name == "" || strings.ContainsFunc(name, unicode.IsSpace) || strings.HasSuffix(name, ":") || strings.ContainsRune(`"[…`, first) {
		return encode(name)
	}
	return name
}

// sizeHint estimates how long a value is when rendered.
func sizeHint(v any) int {
	const overhead = 24 // separators, quotes, a count or a number
	switch v := v.(type) {
	case string:
		return len(v) + overhead
	case []any:
		size := overhead
		for _, item := range v {
			size += sizeHint(item)
		}
		return size
	case map[string]any:
		size := overhead
		for name, item := range v {
			size += len(name) + sizeHint(item)
		}
		return size
	}
	return overhead
}
