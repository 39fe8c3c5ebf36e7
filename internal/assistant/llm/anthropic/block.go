package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// openBlock is a content block that may still grow.
type openBlock struct {
	kind string
	// start is the block as it was opened, in the provider's own words.
	start     json.RawMessage
	text      strings.Builder // of thinking
	signature string
	input     strings.Builder // fragments of an input
	call      int             // which call of the reply it is
}

type blockStart struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

// thinkingBlock is a thinking block as it goes back.
type thinkingBlock struct {
	Type      string `json:"type"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
}

func (r *reply) openBlock(a *wire.Answer, index int, raw json.RawMessage) error {
	r.begin(a, "")
	var start blockStart
	if err := json.Unmarshal(raw, &start); err != nil {
		return a.Malformed("a content block of the reply is not the JSON it should be")
	}
	b := &openBlock{kind: start.Type, start: bytes.Clone(raw)}
	r.open[index] = b
	switch start.Type {
	case "text":
		r.say(start.Text)
	case "thinking":
		r.think(b, start.Thinking)
		b.signature = start.Signature
	case "tool_use":
		b.call = r.calls
		r.calls++
		r.Emit(llm.ToolStart{Index: b.call, ID: start.ID, Name: start.Name})
	}
	return nil
}

func (r *reply) grow(a *wire.Answer, index int, d delta) error {
	r.begin(a, "")
	b := r.open[index]
	if b == nil {
		if d.Type == "text_delta" { // text needs no opening to be understood
			r.say(d.Text)
			return nil
		}
		return a.Malformed("the reply continues a content block that it did not open")
	}
	switch d.Type {
	case "text_delta":
		r.say(d.Text)
	case "thinking_delta":
		r.think(b, d.Thinking)
	case "signature_delta":
		b.signature += d.Signature
	case "input_json_delta":
		b.input.WriteString(d.PartialJSON)
		if b.kind == "tool_use" && d.PartialJSON != "" {
			r.Emit(llm.ToolDelta{Index: b.call, Fragment: d.PartialJSON})
		}
	}
	return nil
}

// closeBlock emits what only a finished block can say.
func (r *reply) closeBlock(a *wire.Answer, index int) error {
	b := r.open[index]
	if b == nil {
		return nil
	}
	delete(r.open, index)
	var raw []byte
	var err error
	kind := llm.PartOpaque
	switch b.kind {
	case "text":
		return nil
	case "tool_use":
		r.wholeInput(b)
		return nil
	case "thinking":
		kind = llm.PartThinking
		raw, err = wire.Encode(thinkingBlock{Type: b.kind, Thinking: b.text.String(), Signature: b.signature})
	case "redacted_thinking":
		kind = llm.PartThinking
		raw, err = compact(b.start)
	default:
		raw, err = b.withInput()
	}
	if err != nil {
		return a.Malformed("a content block of the reply is not the JSON it should be")
	}
	r.Emit(llm.Item{Part: llm.Part{Kind: kind, Text: b.text.String(), Raw: string(raw), Origin: r.origin}})
	return nil
}

// wholeInput emits an input that came with the opening and not in fragments. One
// that is a string is the raw text of arguments the server could not parse.
func (r *reply) wholeInput(b *openBlock) {
	if b.input.Len() > 0 {
		return
	}
	var start blockStart
	if json.Unmarshal(b.start, &start) != nil || len(start.Input) == 0 {
		return
	}
	fragment := string(start.Input)
	var text string
	if json.Unmarshal(start.Input, &text) == nil {
		fragment = text
	}
	if fragment != "" && fragment != "{}" {
		r.Emit(llm.ToolDelta{Index: b.call, Fragment: fragment})
	}
}

// withInput is a block of a kind that only the provider understands, with the
// input that came after its opening.
func (b *openBlock) withInput() ([]byte, error) {
	if b.input.Len() == 0 {
		return compact(b.start)
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(b.start, &fields); err != nil {
		return nil, err
	}
	fields["input"] = json.RawMessage(b.input.String())
	return wire.Encode(fields)
}

func compact(raw json.RawMessage) ([]byte, error) {
	var b bytes.Buffer
	err := json.Compact(&b, raw)
	return b.Bytes(), err
}

func (r *reply) say(text string) {
	if text != "" {
		r.Emit(llm.Text{Delta: text})
	}
}

func (r *reply) think(b *openBlock, text string) {
	if text != "" {
		b.text.WriteString(text)
		r.Emit(llm.Thinking{Delta: text})
	}
}
