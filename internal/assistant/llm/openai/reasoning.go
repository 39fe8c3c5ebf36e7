package openai

import (
	"bytes"
	"encoding/json"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// reasoning gathers the fields in which servers send reasoning, each to go back
// under its own name: reasoning_content (DeepSeek and local servers), reasoning and
// reasoning_details (OpenRouter, whose details may be signed).
type reasoning struct {
	content strings.Builder
	plain   strings.Builder
	details []detail
}

// detail is one element of reasoning_details.
type detail map[string]json.RawMessage

// add takes the reasoning of a delta and returns what a person may read of it.
func (r *reasoning) add(d chatDelta) string {
	r.content.WriteString(string(d.ReasoningContent))
	r.plain.WriteString(string(d.Reasoning))
	var details []detail
	if json.Unmarshal(d.ReasoningDetails, &details) == nil {
		for _, piece := range details {
			r.detail(piece)
		}
	}
	if d.ReasoningContent != "" {
		return string(d.ReasoningContent)
	}
	return string(d.Reasoning)
}

// detail joins a piece to the element that it continues: same type, same index.
func (r *reasoning) detail(piece detail) {
	n := len(r.details)
	if n == 0 || piece["index"] == nil || !bytes.Equal(piece["index"], r.details[n-1]["index"]) || !bytes.Equal(piece["type"], r.details[n-1]["type"]) {
		r.details = append(r.details, piece)
		return
	}
	for name, value := range piece {
		switch {
		case bytes.Equal(value, []byte("null")):
		case name == "text" || name == "summary" || name == "data":
			r.details[n-1][name] = joined(r.details[n-1][name], value)
		default:
			r.details[n-1][name] = value
		}
	}
}

// joined is two strings or two lists as one; of anything else, the later.
func joined(a, b json.RawMessage) json.RawMessage {
	var first, second string
	if json.Unmarshal(a, &first) == nil && json.Unmarshal(b, &second) == nil {
		if text, err := wire.Encode(first + second); err == nil {
			return text
		}
	}
	var head, tail []json.RawMessage
	if json.Unmarshal(a, &head) == nil && json.Unmarshal(b, &tail) == nil {
		if list, err := wire.Encode(append(head, tail...)); err == nil {
			return list
		}
	}
	return b
}

// take returns all of it as one part, whose raw form is fields of an assistant
// message, and forgets it; false is none.
func (r *reasoning) take(o llm.Origin) (llm.Part, bool) {
	fields := map[string]any{}
	shown := r.content.String()
	if shown != "" {
		fields["reasoning_content"] = shown
	}
	if plain := r.plain.String(); plain != "" {
		fields["reasoning"] = plain
		if shown == "" {
			shown = plain
		}
	}
	if len(r.details) > 0 {
		fields["reasoning_details"] = r.details
	}
	*r = reasoning{}
	raw, err := wire.Encode(fields)
	if len(fields) == 0 || err != nil {
		return llm.Part{}, false
	}
	return llm.Part{Kind: llm.PartThinking, Text: shown, Raw: string(raw), Origin: o}, true
}

// mergeFields adds the fields of one part to those of the parts before it.
func mergeFields(into map[string]json.RawMessage, raw string) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(raw), &fields); err != nil {
		return err
	}
	for name, value := range fields {
		if earlier, ok := into[name]; ok {
			value = joined(earlier, value)
		}
		into[name] = value
	}
	return nil
}
