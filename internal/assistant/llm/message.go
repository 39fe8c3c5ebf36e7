package llm

import "encoding/json"

// Role says who a message is from. The zero value is unset and is refused.
type Role uint8

// The roles. The system prompt is Request.System, and results of tools are parts
// of a user message, because neither is portable as a role of its own.
const (
	RoleUnset Role = iota
	User
	Assistant
)

var roleLabels = []string{User: "user", Assistant: "assistant"}

// String returns the stored label.
func (r Role) String() string { return labelOf(roleLabels, r) }

// MarshalText writes the stored label.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads a stored label; an unknown one is an error.
func (r *Role) UnmarshalText(b []byte) (err error) {
	*r, err = parseLabel[Role]("role", roleLabels, string(b))
	return err
}

// PartKind is the kind of a message part. The zero value is unset and is refused.
type PartKind uint8

// The kinds (A-LLM-2). Tool results stand in user messages; calls, thinking and
// opaque parts in assistant messages.
const (
	PartUnset PartKind = iota
	PartText
	PartImage
	PartToolCall
	PartToolResult
	PartThinking
	PartOpaque
)

var partKindLabels = []string{PartText: "text", PartImage: "image", PartToolCall: "tool_call",
	PartToolResult: "tool_result", PartThinking: "thinking", PartOpaque: "opaque"}

// String returns the stored label.
func (k PartKind) String() string { return labelOf(partKindLabels, k) }

// MarshalText writes the stored label.
func (k PartKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a stored label; an unknown one is an error.
func (k *PartKind) UnmarshalText(b []byte) (err error) {
	*k, err = parseLabel[PartKind]("part kind", partKindLabels, string(b))
	return err
}

// Message is one turn of the conversation as it is stored and as requests are
// built from it. Its JSON form is what a store keeps.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

// Part is one piece of a message; the fields of its kind are set.
type Part struct {
	Kind PartKind `json:"kind"`
	// Text is the text of a text part, or what a person may read of a thinking part.
	Text string `json:"text,omitempty"`
	// Image belongs to an image part.
	Image *Image `json:"image,omitempty"`
	// Call belongs to a tool_call part.
	Call *ToolCall `json:"call,omitempty"`
	// Result belongs to a tool_result part.
	Result *ToolResult `json:"result,omitempty"`
	// Raw is a thinking or opaque part in the provider's own JSON text, kept as a
	// string so that no encoder touches its bytes (A-LLM-3, P-STREAM-5).
	Raw string `json:"raw,omitempty"`
	// Origin is who made a thinking or opaque part, and the only one it returns to;
	// for a call, it is whose ProviderID it has.
	Origin Origin `json:"origin,omitzero"`
}

// TextPart returns a text part.
func TextPart(text string) Part { return Part{Kind: PartText, Text: text} }

// UserText returns a user message of one text part.
func UserText(text string) Message { return Message{Role: User, Parts: []Part{TextPart(text)}} }

// Origin names the provider and the model a part came from. Model is the name the
// request used, not the one the server answered with: it is compared with the next request's.
type Origin struct {
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
}

// Image is a picture by value or by address; exactly one of Data and URL is set.
type Image struct {
	// MediaType is image/png, image/jpeg, image/gif or image/webp.
	MediaType string `json:"media_type,omitempty"`
	Data      []byte `json:"data,omitempty"`
	URL       string `json:"url,omitempty"`
	// Detail is low, high or auto, for providers that know it; empty leaves it to them.
	Detail string `json:"detail,omitempty"`
}

// ToolCall is a call a model asked for.
type ToolCall struct {
	// ID is the runtime's own id (A-LOOP-4), unique in the session. A stream leaves
	// it empty; the loop sets it before the message is stored. Results refer to it.
	ID string `json:"id,omitempty"`
	// ProviderID is what the provider called it; may be empty, repeated or ill-formed.
	// WireIDs decides what is sent back.
	ProviderID string `json:"provider_id,omitempty"`
	Name       string `json:"name"`
	// Arguments is the raw text as the model sent it, valid or not; read it with
	// ParseArguments. Adapters send it back through ReplayArguments.
	Arguments string `json:"arguments"`
}

// ToolResult answers one call of the assistant message before it.
type ToolResult struct {
	// CallID is ToolCall.ID.
	CallID  string  `json:"call_id"`
	Text    string  `json:"text"`
	Images  []Image `json:"images,omitempty"`
	IsError bool    `json:"is_error,omitempty"`
}

// Calls returns the tool calls of a message in their order.
func (m Message) Calls() []*ToolCall {
	var calls []*ToolCall
	for _, p := range m.Parts {
		if p.Kind == PartToolCall && p.Call != nil {
			calls = append(calls, p.Call)
		}
	}
	return calls
}

// Text returns the text parts of a message, joined.
func (m Message) Text() string {
	var text string
	for _, p := range m.Parts {
		if p.Kind == PartText {
			text += p.Text
		}
	}
	return text
}

// Tool is what a model is told of a tool. Name is the wire name (T-SET-5).
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"` // JSON Schema; empty is an object without fields
}
