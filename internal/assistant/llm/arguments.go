package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ArgumentError says why the arguments of a call were not read (A-LOOP-6).
type ArgumentError struct {
	// Reason is what is wrong, with the path of the field where there is one.
	Reason string
	// Offset is where, in bytes of the raw text.
	Offset int
	// Excerpt is the text around Offset, printable, ending in an ellipsis where it was cut.
	Excerpt string
}

// Error tells reason, offset and excerpt.
func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s at byte %d, near %q", e.Reason, e.Offset, e.Excerpt)
}

// ParseArguments reads the raw arguments of a call (A-LOOP-6). Nothing at all is
// an object without members. The only repair is taking one whole object out of a
// Markdown fence. Everything that is not one I-JSON object of at most 1 MiB is
// refused with an *ArgumentError: cut or invalid text, another type, a repeated
// key, an integer beyond ±(2^53−1), a lone surrogate, nesting over 128.
// Numbers are float64.
func ParseArguments(raw string) (map[string]any, error) {
	if len(raw) > maxArguments {
		return nil, refuseArguments(raw, maxArguments, fmt.Sprintf("arguments of %d bytes exceed %d", len(raw), maxArguments))
	}
	body, at := argumentBody(raw)
	if body == "" {
		return map[string]any{}, nil
	}
	if !strings.HasPrefix(body, "{") {
		return nil, refuseArguments(raw, at, "arguments are not a JSON object")
	}
	r := argumentReader{raw: raw, base: at, dec: json.NewDecoder(strings.NewReader(body))}
	r.dec.UseNumber()
	if err := r.prepare(body); err != nil {
		return nil, err
	}
	value, err := r.value("", 0)
	if err != nil {
		return nil, err
	}
	return value.(map[string]any), nil
}

// ReplayArguments is what a request says the arguments of an earlier call were:
// always one JSON object. Text that ParseArguments refuses goes back quoted in an
// object of its own, so that broken arguments cannot break the session (P-STREAM-3).
func ReplayArguments(raw string) string {
	if _, err := ParseArguments(raw); err != nil {
		shown := strings.ToValidUTF8(raw, "\uFFFD")
		if len(shown) > replayExcerptBytes {
			shown = strings.ToValidUTF8(shown[:replayExcerptBytes], "") + "…"
		}
		var text bytes.Buffer
		enc := json.NewEncoder(&text)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]string{"invalid_arguments": shown}); err != nil {
			return "{}"
		}
		return strings.TrimSpace(text.String())
	}
	body, _ := argumentBody(raw)
	if body == "" {
		return "{}"
	}
	return body
}

// argumentBody strips space and one fence around the whole, and says where the rest begins.
func argumentBody(raw string) (string, int) {
	body := strings.TrimSpace(raw)
	at := strings.Index(raw, body)
	inner, fenced := strings.CutPrefix(body, "```")
	if !fenced {
		return body, at
	}
	inner, closed := strings.CutSuffix(inner, "```")
	language, rest, broken := strings.Cut(inner, "\n")
	language = strings.ToLower(strings.TrimSpace(language))
	if !closed || !broken || (language != "" && language != "json") {
		return body, at
	}
	object := strings.TrimSpace(rest)
	if !strings.HasPrefix(object, "{") {
		return body, at
	}
	return object, at + strings.Index(body, object)
}

// argumentReader reads one value and knows where it is.
type argumentReader struct {
	raw  string
	base int
	dec  *json.Decoder
}

// prepare refuses what a token reader would let pass: bad syntax anywhere, bytes
// that are no UTF-8, lone surrogates, text after the object.
func (r argumentReader) prepare(body string) error {
	if !utf8.ValidString(body) {
		return refuseArguments(r.raw, r.base+invalidUTF8(body), "arguments are not valid UTF-8")
	}
	var whole json.RawMessage
	dec := json.NewDecoder(strings.NewReader(body))
	if err := dec.Decode(&whole); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return refuseArguments(r.raw, r.base+int(max(syntax.Offset-1, 0)), "arguments are not valid JSON: "+syntax.Error())
		}
		return refuseArguments(r.raw, r.base+len(body), "arguments end before the JSON object does")
	}
	if rest := strings.TrimSpace(body[dec.InputOffset():]); rest != "" {
		return refuseArguments(r.raw, r.base+strings.LastIndex(body, rest), "arguments go on after the JSON object")
	}
	if at := loneSurrogate(body); at >= 0 {
		return refuseArguments(r.raw, r.base+at, "arguments hold half of a surrogate pair")
	}
	return nil
}

// value reads the next value; path names it in an error.
func (r argumentReader) value(path string, depth int) (any, error) {
	token, err := r.dec.Token()
	if err != nil {
		return nil, r.refuse("arguments are not valid JSON", path)
	}
	switch t := token.(type) {
	case json.Delim:
		if depth >= maxArgumentDepth {
			return nil, r.refuse("arguments are nested too deep", path)
		}
		if t == '{' {
			return r.object(path, depth+1)
		}
		return r.array(path, depth+1)
	case json.Number:
		return r.number(t, path)
	}
	return token, nil
}

func (r argumentReader) object(path string, depth int) (any, error) {
	object := map[string]any{}
	for r.dec.More() {
		token, err := r.dec.Token()
		if err != nil {
			return nil, r.refuse("arguments are not valid JSON", path)
		}
		key := token.(string)
		if _, seen := object[key]; seen {
			return nil, r.refuse(fmt.Sprintf("key %q is repeated", key), path)
		}
		if object[key], err = r.value(path+"/"+key, depth); err != nil {
			return nil, err
		}
	}
	return object, r.end()
}

func (r argumentReader) array(path string, depth int) (any, error) {
	array := []any{}
	for r.dec.More() {
		item, err := r.value(path+"/"+strconv.Itoa(len(array)), depth)
		if err != nil {
			return nil, err
		}
		array = append(array, item)
	}
	return array, r.end()
}

// end takes the closing bracket.
func (r argumentReader) end() error {
	if _, err := r.dec.Token(); err != nil && !errors.Is(err, io.EOF) {
		return r.refuse("arguments are not valid JSON", "")
	}
	return nil
}

// number refuses what other readers of the same text would round (D-18).
func (r argumentReader) number(n json.Number, path string) (any, error) {
	value, err := n.Float64()
	if err != nil || math.IsInf(value, 0) {
		return nil, r.refuse(fmt.Sprintf("number %s is out of range", n), path)
	}
	if value == math.Trunc(value) && math.Abs(value) > maxSafeInteger {
		return nil, r.refuse(fmt.Sprintf("integer %s is beyond ±(2^53−1)", n), path)
	}
	return value, nil
}

func (r argumentReader) refuse(reason, path string) error {
	if path != "" {
		reason += " in " + strconv.Quote(path)
	}
	return refuseArguments(r.raw, r.base+int(r.dec.InputOffset()), reason)
}

// refuseArguments builds the error with the text around an offset.
func refuseArguments(raw string, at int, reason string) error {
	at = min(at, len(raw))
	from := max(0, at-excerptBytes/2)
	to := min(len(raw), from+excerptBytes)
	excerpt := strings.ToValidUTF8(raw[from:to], "")
	if to < len(raw) {
		excerpt += "…"
	}
	return &ArgumentError{Reason: reason, Offset: at, Excerpt: excerpt}
}

func invalidUTF8(s string) int {
	for at := 0; at < len(s); {
		c, size := utf8.DecodeRuneInString(s[at:])
		if c == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return len(s)
}

// loneSurrogate returns where a \uD800–\uDFFF escape stands without its other
// half, or -1. The text is valid JSON.
func loneSurrogate(s string) int {
	for at := 0; at < len(s); at++ {
		if s[at] != '\\' {
			continue
		}
		unit, ok := escapedUnit(s[at:])
		switch {
		case !ok:
			at++
		case unit >= 0xD800 && unit < 0xDC00:
			low, ok := escapedUnit(s[at+6:])
			if !ok || low < 0xDC00 || low > 0xDFFF {
				return at
			}
			at += 11
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return at
		}
	}
	return -1
}

// escapedUnit reads a \uXXXX at the start of s.
func escapedUnit(s string) (uint64, bool) {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(s[2:6], 16, 32)
	return unit, err == nil
}
