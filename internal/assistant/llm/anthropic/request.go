package anthropic

import (
	"encoding/json"
	"strings"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// request is the body in the order of the prompt's prefix: what changes least
// comes first, the messages last (A-CTX-4).
type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	Stream       bool          `json:"stream"`
	Thinking     *thinking     `json:"thinking,omitempty"`
	OutputConfig *outputConfig `json:"output_config,omitempty"`
	ToolChoice   *toolChoice   `json:"tool_choice,omitempty"`
	Tools        []*tool       `json:"tools,omitempty"`
	System       []*block      `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
}

type thinking struct {
	Type string `json:"type"`
	// Display asks for a summary: newer models show nothing unless asked.
	Display string `json:"display"`
}

type outputConfig struct {
	Effort string `json:"effort"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name,omitempty"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type message struct {
	Role string `json:"role"`
	// Content holds *block, or a block in the provider's own words as json.RawMessage.
	Content []any `json:"content"`
}

type block struct {
	Type         string          `json:"type"`
	Text         string          `json:"text,omitempty"`
	Source       *source         `json:"source,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      any             `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
}

// encode builds the body of a request. An error is an *llm.Error of kind invalid.
func encode(provider string, r llm.Request) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, named(provider, err)
	}
	body := request{Model: r.Model, MaxTokens: r.MaxTokens, Stream: true, ToolChoice: choice(r)}
	if body.MaxTokens == 0 {
		body.MaxTokens = defaultMaxTokens
	}
	if r.Effort >= llm.EffortLow {
		body.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		body.OutputConfig = &outputConfig{Effort: r.Effort.String()}
	}
	for _, t := range r.Tools {
		schema := t.Parameters
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		body.Tools = append(body.Tools, &tool{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	if strings.TrimSpace(r.System) != "" {
		body.System = []*block{{Type: "text", Text: r.System}}
	}
	b := builder{ids: llm.WireIDs(r.Messages, provider), origin: llm.Origin{Provider: provider, Model: r.Model}}
	for _, m := range r.Messages {
		if content := b.content(m); len(content) > 0 {
			body.Messages = append(body.Messages, message{Role: m.Role.String(), Content: content})
		}
	}
	trimLast(body.Messages)
	if r.Cache != llm.CacheOff {
		mark(&body, r.Cache)
	}
	data, err := wire.Encode(body)
	if err != nil {
		return nil, &llm.Error{Kind: llm.KindInvalid, Provider: provider, Message: "a stored part or a tool schema of the request is not valid JSON", Err: err}
	}
	return data, nil
}

func named(provider string, err error) error {
	if e, ok := err.(*llm.Error); ok {
		e.Provider = provider
	}
	return err
}

func choice(r llm.Request) *toolChoice {
	if len(r.Tools) == 0 {
		return nil
	}
	switch r.ToolChoice.Mode {
	case llm.ToolNone:
		return &toolChoice{Type: "none"}
	case llm.ToolRequired:
		return &toolChoice{Type: "any"}
	case llm.ToolNamed:
		return &toolChoice{Type: "tool", Name: r.ToolChoice.Name}
	}
	return nil
}

// builder turns parts into blocks.
type builder struct {
	ids    map[string]string
	origin llm.Origin
}

// content returns the blocks of a message, results first as the API demands. Text
// of nothing but space is left out: the API refuses the request for it.
func (b builder) content(m llm.Message) []any {
	var results, others []any
	for _, p := range m.Parts {
		switch p.Kind {
		case llm.PartToolResult:
			results = append(results, b.result(p.Result))
		case llm.PartText:
			if strings.TrimSpace(p.Text) != "" {
				others = append(others, &block{Type: "text", Text: p.Text})
			}
		case llm.PartImage:
			others = append(others, image(*p.Image))
		case llm.PartToolCall:
			others = append(others, &block{Type: "tool_use", ID: b.ids[p.Call.ID], Name: p.Call.Name,
				Input: json.RawMessage(llm.ReplayArguments(p.Call.Arguments))})
		case llm.PartThinking, llm.PartOpaque:
			if p.Origin == b.origin && p.Raw != "" {
				others = append(others, json.RawMessage(p.Raw))
			}
		}
	}
	return append(results, others...)
}

func (b builder) result(r *llm.ToolResult) *block {
	result := &block{Type: "tool_result", ToolUseID: b.ids[r.CallID], IsError: r.IsError, Content: r.Text}
	if len(r.Images) == 0 {
		return result
	}
	var content []*block
	if strings.TrimSpace(r.Text) != "" {
		content = append(content, &block{Type: "text", Text: r.Text})
	}
	for _, i := range r.Images {
		content = append(content, image(i))
	}
	result.Content = content
	return result
}

func image(i llm.Image) *block {
	if i.URL != "" {
		return &block{Type: "image", Source: &source{Type: "url", URL: i.URL}}
	}
	return &block{Type: "image", Source: &source{Type: "base64", MediaType: i.MediaType, Data: i.Data}}
}

// trimLast cuts the space after a reply that is to be continued: the API refuses it.
func trimLast(messages []message) {
	if len(messages) == 0 || messages[len(messages)-1].Role != llm.Assistant.String() {
		return
	}
	content := messages[len(messages)-1].Content
	if last, ok := content[len(content)-1].(*block); ok && last.Type == "text" {
		last.Text = strings.TrimRight(last.Text, " \t\r\n")
	}
}
