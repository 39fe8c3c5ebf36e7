package openai

import (
	"encoding/json"
	"errors"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// responsesRequest is the body in the order of the prompt's prefix, the input last
// (A-CTX-4). Nothing is kept on the server: reasoning comes back encrypted and is
// replayed by us (A-LLM-6).
type responsesRequest struct {
	Model           string              `json:"model"`
	Stream          bool                `json:"stream"`
	Store           bool                `json:"store"`
	Include         []string            `json:"include"`
	MaxOutputTokens int                 `json:"max_output_tokens,omitempty"`
	Reasoning       *responsesReasoning `json:"reasoning,omitempty"`
	PromptCacheKey  string              `json:"prompt_cache_key,omitempty"`
	ToolChoice      any                 `json:"tool_choice,omitempty"`
	Tools           []responsesTool     `json:"tools,omitempty"`
	Instructions    string              `json:"instructions,omitempty"`
	Input           []any               `json:"input"`
}

type responsesReasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

type responsesTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	// Strict is told, because the server's default refuses schemas with optional fields.
	Strict bool `json:"strict"`
}

type responsesMessage struct {
	Type    string          `json:"type"`
	Role    string          `json:"role"`
	Content []responsesPart `json:"content"`
}

type responsesPart struct {
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	ImageURL string `json:"image_url,omitempty"`
	Detail   string `json:"detail,omitempty"`
}

type responsesCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type responsesOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	// Output is a string, or a list of parts where there are pictures.
	Output any `json:"output"`
}

// encodeResponses builds the body of a request. An error is an *llm.Error of kind invalid.
func encodeResponses(s server, r llm.Request) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, named(s.name, err)
	}
	body := responsesRequest{Model: r.Model, Stream: true, Include: []string{"reasoning.encrypted_content"}, MaxOutputTokens: r.MaxTokens,
		ToolChoice: responsesChoice(r), Instructions: r.System, Input: []any{}}
	if word := effort(r.Effort); word != "" {
		body.Reasoning = &responsesReasoning{Effort: word, Summary: "auto"}
	}
	if r.Cache != llm.CacheOff {
		body.PromptCacheKey = r.SessionID
	}
	for _, t := range r.Tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		body.Tools = append(body.Tools, responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: parameters})
	}
	b := responsesBuilder{ids: llm.WireIDs(r.Messages, s.name), origin: llm.Origin{Provider: s.name, Model: r.Model}}
	for _, m := range r.Messages {
		if m.Role == llm.Assistant {
			b.assistant(m)
		} else {
			b.user(m)
		}
	}
	body.Input = append(body.Input, b.input...)
	data, err := wire.Encode(body)
	if b.err != nil || err != nil {
		return nil, &llm.Error{Kind: llm.KindInvalid, Provider: s.name, Message: "a stored part or a tool schema of the request is not valid JSON",
			Err: errors.Join(b.err, err)}
	}
	return data, nil
}

func responsesChoice(r llm.Request) any {
	if len(r.Tools) > 0 && r.ToolChoice.Mode == llm.ToolNamed {
		return map[string]string{"type": "function", "name": r.ToolChoice.Name}
	}
	return choice(r)
}

// responsesBuilder turns messages into items.
type responsesBuilder struct {
	ids    map[string]string
	origin llm.Origin
	input  []any
	err    error
}

// user puts results first, each an item of its own, and then what was said.
func (b *responsesBuilder) user(m llm.Message) {
	var said []responsesPart
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.PartToolResult:
			b.input = append(b.input, responsesOutput{Type: "function_call_output", CallID: b.ids[p.Result.CallID], Output: outputOf(*p.Result)})
		case p.Kind == llm.PartText && p.Text != "":
			said = append(said, responsesPart{Type: "input_text", Text: p.Text})
		case p.Kind == llm.PartImage:
			said = append(said, inputImage(*p.Image))
		}
	}
	if len(said) > 0 {
		b.input = append(b.input, responsesMessage{Type: "message", Role: "user", Content: said})
	}
}

func outputOf(r llm.ToolResult) any {
	if len(r.Images) == 0 {
		return r.Text
	}
	parts := []responsesPart{{Type: "input_text", Text: r.Text}}
	for _, i := range r.Images {
		parts = append(parts, inputImage(i))
	}
	return parts
}

func inputImage(i llm.Image) responsesPart {
	p := picture(i)
	detail := i.Detail
	if detail == "" {
		detail = "auto"
	}
	return responsesPart{Type: "input_image", ImageURL: p.ImageURL.URL, Detail: detail}
}

// assistant keeps the order of items, because reasoning has to stand before the
// call or the message that it led to.
func (b *responsesBuilder) assistant(m llm.Message) {
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			b.input = append(b.input, responsesMessage{Type: "message", Role: "assistant", Content: []responsesPart{{Type: "output_text", Text: text.String()}}})
			text.Reset()
		}
	}
	var pending []any // reasoning that nothing follows yet: alone it is refused
	for _, p := range m.Parts {
		switch p.Kind {
		case llm.PartText:
			if p.Text != "" {
				b.input, pending = append(b.input, pending...), nil
				text.WriteString(p.Text)
			}
		case llm.PartToolCall:
			flush()
			b.input, pending = append(b.input, pending...), nil
			b.input = append(b.input, responsesCall{Type: "function_call", CallID: b.ids[p.Call.ID], Name: p.Call.Name,
				Arguments: llm.ReplayArguments(p.Call.Arguments)})
		case llm.PartThinking, llm.PartOpaque:
			if p.Origin != b.origin || p.Raw == "" {
				continue
			}
			flush()
			if !json.Valid([]byte(p.Raw)) {
				b.err = errors.Join(b.err, errors.New("a stored item of reasoning is not JSON"))
				continue
			}
			pending = append(pending, json.RawMessage(p.Raw))
		}
	}
	flush()
}
