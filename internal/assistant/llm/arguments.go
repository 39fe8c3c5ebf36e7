package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"car/internal/engine/ir"
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
	if err := checkArguments(raw, body, at); err != nil {
		return nil, err
	}
	arguments := map[string]any{}
	if err := json.Unmarshal([]byte(body), &arguments); err != nil {
		return nil, refuseArguments(raw, at, "arguments are not valid JSON")
	}
	return arguments, nil
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

// checkArguments refuses what is not exactly one I-JSON object (E-JCS-2). Text that
// no decoder reads is placed by encoding/json, the rest by the rules every action's parameters obey.
func checkArguments(raw, body string, at int) error {
	dec := json.NewDecoder(strings.NewReader(body))
	var object json.RawMessage
	if err := dec.Decode(&object); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return refuseArguments(raw, at+int(max(syntax.Offset-1, 0)), "arguments are not valid JSON: "+syntax.Error())
		}
		return refuseArguments(raw, at+len(body), "arguments end before the JSON object does")
	}
	if rest := strings.TrimSpace(body[dec.InputOffset():]); rest != "" {
		return refuseArguments(raw, at+len(body)-len(rest), "arguments go on after the JSON object")
	}
	var offence *ir.PathError
	if errors.As(ir.CheckText(object), &offence) {
		return refuseArguments(raw, at+offence.Offset, "arguments: "+offence.Error())
	}
	return nil
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
