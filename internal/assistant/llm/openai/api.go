package openai

import (
	"fmt"

	"car/internal/assistant/llm"
	"car/internal/assistant/llm/wire"
)

// API is a format of requests and replies.
type API uint8

// The formats.
const (
	// Auto is Responses for OpenAI's own server and Chat for every other (A-LLM-6).
	Auto API = iota
	Chat
	// Responses is OpenAI's own newer one; few other servers have it.
	Responses
)

var apiLabels = []string{"auto", "chat", "responses"}

// String returns the configuration label.
func (a API) String() string {
	if int(a) < len(apiLabels) {
		return apiLabels[a]
	}
	return fmt.Sprintf("unknown(%d)", uint8(a))
}

// MarshalText writes the configuration label.
func (a API) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads a configuration label; an unknown one is an error.
func (a *API) UnmarshalText(b []byte) error {
	for i, label := range apiLabels {
		if label == string(b) {
			*a = API(i)
			return nil
		}
	}
	return fmt.Errorf("unknown api %q (one of %v)", b, apiLabels)
}

// dialect is what differs between formats.
type dialect struct {
	path   string
	encode func(server, llm.Request) ([]byte, error)
	reply  func(llm.Origin) wire.Reader
}

var dialects = map[API]dialect{
	Chat:      {path: "chat/completions", encode: encodeChat, reply: func(o llm.Origin) wire.Reader { return newChatReply(o) }},
	Responses: {path: "responses", encode: encodeResponses, reply: func(o llm.Origin) wire.Reader { return newResponsesReply(o) }},
}
