package llmtest

import (
	"testing"
	"unicode/utf8"

	"car/internal/assistant/llm"
)

// Reply is what a model says, in no provider's format.
type Reply struct {
	Thinking string
	Text     string
	Calls    []Call
	// Stop is how it ends; the zero value is an end, or tool use where there are calls.
	Stop  llm.StopKind
	Usage *llm.Usage
	// Chunk is the characters of one delta; 0 is 4.
	Chunk int
}

// Call is a tool call of a Reply.
type Call struct {
	ID, Name string
	// Args is raw text, whole JSON or not.
	Args string
}

// StopKind is how the reply ends.
func (r Reply) StopKind() llm.StopKind {
	switch {
	case r.Stop != llm.StopOther:
		return r.Stop
	case len(r.Calls) > 0:
		return llm.StopToolUse
	}
	return llm.StopEnd
}

// Pieces cuts a text into deltas of Chunk characters.
func (r Reply) Pieces(text string) []string {
	size := r.Chunk
	if size == 0 {
		size = 4
	}
	var pieces []string
	for text != "" {
		end := 0
		for n := 0; n < size && end < len(text); n++ {
			_, width := utf8.DecodeRuneInString(text[end:])
			end += width
		}
		pieces = append(pieces, text[:end])
		text = text[end:]
	}
	return pieces
}

// FaultKind is a way in which a provider misbehaves.
type FaultKind uint8

// The faults. FaultRefuse answers with an error instead of a reply. The others come
// in the middle, after some of the text: the stream breaks, says an error, says nothing.
const (
	NoFault FaultKind = iota
	FaultRefuse
	FaultCut
	FaultError
	FaultStall
)

// Fault is what goes wrong with a Play.
type Fault struct {
	Kind FaultKind
	// Error is what FaultRefuse and FaultError tell, in the provider's own words.
	Error llm.ErrorKind
	// RetryAfterSeconds is sent with FaultRefuse; 0 is not.
	RetryAfterSeconds int
}

// Play is what one request meets.
type Play struct {
	Reply Reply
	Fault Fault
}

// Driver makes providers that play what they are told. Each request meets the next
// play; the last one is met again and again. A stall is short.
type Driver interface {
	Provider(t *testing.T, plays ...Play) llm.Provider
}

// Request is a small request that every provider accepts.
func Request() llm.Request {
	return llm.Request{Model: "test-model", System: "Be brief.", Messages: []llm.Message{llm.UserText("hello")}, MaxTokens: 100, SessionID: "s1",
		Tools: []llm.Tool{{Name: "read_file", Description: "Reads a file.", Parameters: []byte(`{"type":"object","properties":{"path":{"type":"string"}}}`)},
			{Name: "list_dir", Parameters: []byte(`{"type":"object","properties":{}}`)}}}
}
