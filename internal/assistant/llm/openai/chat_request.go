package openai

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// chatRequest is the body in the order of the prompt's prefix, the messages last (A-CTX-4).
type chatRequest struct {
	Model               string         `json:"model"`
	Stream              bool           `json:"stream"`
	StreamOptions       *streamOptions `json:"stream_options,omitempty"`
	MaxTokens           int            `json:"max_tokens,omitempty"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitempty"`
	ReasoningEffort     string         `json:"reasoning_effort,omitempty"`
	PromptCacheKey      string         `json:"prompt_cache_key,omitempty"`
	ToolChoice          any            `json:"tool_choice,omitempty"`
	Tools               []chatTool     `json:"tools,omitempty"`
	Messages            []any          `json:"messages"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type chatMessage struct {
	Role string `json:"role"`
	// Content is a string, or a list of chatPart, or null.
	Content    any        `json:"content"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	ToolCalls  []chatCall `json:"tool_calls,omitempty"`
}

type chatPart struct {
	Type     string     `json:"type"`
	Text     string     `json:"text,omitempty"`
	ImageURL *chatImage `json:"image_url,omitempty"`
}

type chatImage struct {
	URL    string `json:"url"`
	Detail string `json:"detail,omitempty"`
}

type chatCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// encodeChat builds the body of a request. An error is an *llm.Error of kind invalid.
func encodeChat(s server, r llm.Request) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, named(s.name, err)
	}
	body := chatRequest{Model: r.Model, Stream: true, StreamOptions: &streamOptions{IncludeUsage: true},
		MaxTokens: r.MaxTokens, ReasoningEffort: effort(r.Effort), ToolChoice: choice(r)}
	if s.official {
		body.MaxTokens, body.MaxCompletionTokens = 0, r.MaxTokens
		if r.Cache != llm.CacheOff {
			body.PromptCacheKey = r.SessionID
		}
	}
	for _, t := range r.Tools {
		parameters := t.Parameters
		if len(parameters) == 0 {
			parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		body.Tools = append(body.Tools, chatTool{Type: "function", Function: chatFunction{Name: t.Name, Description: t.Description, Parameters: parameters}})
	}
	if strings.TrimSpace(r.System) != "" {
		body.Messages = append(body.Messages, chatMessage{Role: "system", Content: r.System})
	}
	b := chatBuilder{ids: llm.WireIDs(r.Messages, s.name), origin: llm.Origin{Provider: s.name, Model: r.Model}}
	for _, m := range r.Messages {
		if m.Role == llm.Assistant {
			b.assistant(m)
		} else {
			b.user(m)
		}
	}
	body.Messages = append(body.Messages, b.messages...)
	data, err := wire.Encode(body)
	if b.err != nil || err != nil {
		return nil, &llm.Error{Kind: llm.KindInvalid, Provider: s.name, Message: "a stored part or a tool schema of the request is not valid JSON",
			Err: errors.Join(b.err, err)}
	}
	return data, nil
}

func named(provider string, err error) error {
	if e, ok := err.(*llm.Error); ok {
		e.Provider = provider
	}
	return err
}

// effort is the API's word; its scale has no "off" that all servers know.
func effort(e llm.Effort) string {
	switch e {
	case llm.EffortLow, llm.EffortMedium, llm.EffortHigh:
		return e.String()
	case llm.EffortMax:
		return "high"
	}
	return ""
}

func choice(r llm.Request) any {
	if len(r.Tools) == 0 {
		return nil
	}
	switch r.ToolChoice.Mode {
	case llm.ToolNone:
		return "none"
	case llm.ToolRequired:
		return "required"
	case llm.ToolNamed:
		return map[string]any{"type": "function", "function": map[string]string{"name": r.ToolChoice.Name}}
	}
	return nil
}

// chatBuilder turns messages into the API's.
type chatBuilder struct {
	ids      map[string]string
	origin   llm.Origin
	messages []any
	err      error
}

// user splits a message: each result is a message of its own, before the rest. The
// API has no place for the images of a result, so they follow as the user's.
func (b *chatBuilder) user(m llm.Message) {
	var rest []chatPart
	for _, p := range m.Parts {
		if p.Kind != llm.PartToolResult {
			continue
		}
		b.messages = append(b.messages, chatMessage{Role: "tool", ToolCallID: b.ids[p.Result.CallID], Content: p.Result.Text})
		for _, i := range p.Result.Images {
			rest = append(rest, picture(i))
		}
	}
	for _, p := range m.Parts {
		switch {
		case p.Kind == llm.PartText && p.Text != "":
			rest = append(rest, chatPart{Type: "text", Text: p.Text})
		case p.Kind == llm.PartImage:
			rest = append(rest, picture(*p.Image))
		}
	}
	if len(rest) > 0 {
		b.messages = append(b.messages, chatMessage{Role: "user", Content: plain(rest)})
	}
}

// plain is a string where a list is not needed: not every server reads lists.
func plain(parts []chatPart) any {
	var text []string
	for _, p := range parts {
		if p.Type != "text" {
			return parts
		}
		text = append(text, p.Text)
	}
	return strings.Join(text, "\n\n")
}

func picture(i llm.Image) chatPart {
	address := i.URL
	if address == "" {
		address = "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
	}
	return chatPart{Type: "image_url", ImageURL: &chatImage{URL: address, Detail: i.Detail}}
}

// assistant is one message, with the reasoning fields this model sent before in
// the words it used (A-LLM-3). A message with nothing to say is left out.
func (b *chatBuilder) assistant(m llm.Message) {
	out := chatMessage{Role: "assistant"}
	reasoning := map[string]json.RawMessage{}
	var text string
	for _, p := range m.Parts {
		switch p.Kind {
		case llm.PartText:
			text += p.Text
		case llm.PartToolCall:
			c := chatCall{ID: b.ids[p.Call.ID], Type: "function"}
			c.Function.Name, c.Function.Arguments = p.Call.Name, llm.ReplayArguments(p.Call.Arguments)
			out.ToolCalls = append(out.ToolCalls, c)
		case llm.PartThinking, llm.PartOpaque:
			if p.Origin == b.origin && p.Raw != "" {
				b.err = errors.Join(b.err, mergeFields(reasoning, p.Raw))
			}
		}
	}
	if text != "" {
		out.Content = text
	}
	if text == "" && len(out.ToolCalls) == 0 {
		return
	}
	if len(reasoning) == 0 {
		b.messages = append(b.messages, out)
		return
	}
	b.messages = append(b.messages, reasoned{chatMessage: out, fields: reasoning})
}

// reasoned is an assistant message with fields that only its server knows.
type reasoned struct {
	chatMessage
	fields map[string]json.RawMessage
}

// MarshalJSON writes the message's own fields, then the server's in name order.
func (r reasoned) MarshalJSON() ([]byte, error) {
	own, err := wire.Encode(r.chatMessage)
	if err != nil {
		return nil, err
	}
	theirs, err := wire.Encode(r.fields)
	if err != nil {
		return nil, err
	}
	return append(append(own[:len(own)-1], ','), theirs[1:]...), nil
}
