package ir

import (
	"encoding/json"
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
	return write(func(w *textWriter) { w.object(fields) })
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

func (w *textWriter) object(fields map[string]any) {
	names := w.sorted(fields)
	first := true
	for _, group := range [3]fieldGroup{groupOutcome, groupLine, groupBlock} {
		for _, name := range names {
			if groupOf(name, fields[name]) != group {
				continue
			}
			if !first {
				w.text("\n")
			}
			first = false
			w.field(group, name, fields[name])
		}
	}
	w.done(names)
}

func (w *textWriter) field(group fieldGroup, name string, value any) {
	w.text(keyText(name))
	switch value := value.(type) {
	case string:
		if group == groupBlock {
			w.header(len(value), " bytes")
			w.text(value)
			return
		}
	case []any:
		if group == groupBlock {
			w.header(len(value), " records")
			w.records(value)
			return
		}
	}
	w.text(": ")
	if group == groupOutcome {
		w.text(outcomeText(value))
		return
	}
	w.scalar(value)
}

func (w *textWriter) header(count int, unit string) {
	w.text(" (")
	w.number(float64(count))
	w.text(unit)
	w.text("):\n")
}

// outcomeText keeps a verdict on one line, with both ends when it is long.
func outcomeText(value any) string {
	if text, ok := value.(string); ok {
		value = strings.ReplaceAll(text, "\n", " ")
	}
	return clipKeepingEnds(write(func(w *textWriter) { w.scalar(value) }), outcomeBytes)
}

// scalar writes a string raw unless raw text would read back as something else
// (E-REND-3), and any other value as compact JSON.
func (w *textWriter) scalar(value any) {
	text, ok := value.(string)
	if ok && !needsQuotes(text) {
		w.text(text)
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
			w.text("\n")
		}
		record, _ := item.(map[string]any)
		names := w.sorted(record)
		for k, name := range names {
			if k > 0 {
				w.text("  ")
			}
			w.oneLine(name)
			w.text("=")
			if text, ok := record[name].(string); ok {
				w.oneLine(text)
				continue
			}
			w.json(record[name])
		}
		w.done(names)
	}
}

// oneLine writes text with its line breaks spelled out.
func (w *textWriter) oneLine(text string) {
	for {
		line, rest, more := strings.Cut(text, "\n")
		w.text(line)
		if !more {
			return
		}
		w.text(`\n`)
		text = rest
	}
}

// keyText writes a name as it stands before ": " or " (": raw unless it would
// not read back as this name (E-REND-3).
func keyText(name string) string {
	first, _ := utf8.DecodeRuneInString(name)
	if name == "" || strings.ContainsFunc(name, unicode.IsSpace) || strings.HasSuffix(name, ":") || strings.ContainsRune(`"[…`, first) {
		return compact(name)
	}
	return name
}
