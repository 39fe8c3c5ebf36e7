package llm

// Event is one item of a streamed reply: Started, Text, Thinking, ToolStart,
// ToolDelta, Item, Usage or Stop.
type Event interface{ event() }

// Started comes first, once the provider has accepted the request.
type Started struct {
	// Model is the name the server answered with; empty when it gave none.
	Model string
	// RequestID is the provider's id of the exchange, for support; may be empty.
	RequestID string
}

// Text is a piece of the visible reply, whole characters only.
type Text struct{ Delta string }

// Thinking is a piece of reasoning that a person may read.
type Thinking struct{ Delta string }

// ToolStart opens a call. Index counts calls of this reply from 0 in order of
// their opening, whatever the wire said.
type ToolStart struct {
	Index int
	// ID is the provider's id, possibly empty or repeated.
	ID   string
	Name string
}

// ToolDelta is a fragment of the arguments of call Index; fragments are joined as
// text and mean nothing before Stop.
type ToolDelta struct {
	Index    int
	Fragment string
}

// Item is a finished part to keep for replay: thinking with its signature, or
// something only its provider understands. Its text was already streamed.
type Item struct{ Part Part }

// Usage is what the provider charged so far; the last one of a stream stands.
// A stream may have none: the caller then estimates (A-LLM-12).
type Usage struct {
	// Input is uncached input; the cached kinds are not part of it. All are tokens.
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	CacheRead  int64 `json:"cache_read"`
	CacheWrite int64 `json:"cache_write"`
	// Reasoning is the hidden part of Output, where it is told.
	Reasoning int64 `json:"reasoning"`
	// CostMicros is the price in millionths of a US dollar as the provider told it; nil is untold.
	CostMicros *int64 `json:"cost_micros,omitempty"`
}

// Total is all tokens of a request and its reply.
func (u Usage) Total() int64 { return u.Input + u.CacheRead + u.CacheWrite + u.Output }

// Stop ends a reply that is whole. It is the last event.
type Stop struct {
	Kind StopKind
	// Raw is the provider's own word.
	Raw string
	// Detail is what the provider says of a refusal: its category, or the refusal's text.
	Detail string
}

func (Started) event()   {}
func (Text) event()      {}
func (Thinking) event()  {}
func (ToolStart) event() {}
func (ToolDelta) event() {}
func (Item) event()      {}
func (Usage) event()     {}
func (Stop) event()      {}

// StopKind is why a reply ended. The zero value is other: a word we do not know
// is never taken for an end.
type StopKind uint8

// The kinds (A-LLM-2). StopToolUse is set whenever there are calls and the reply
// ended by itself. StopPause asks to send the same again to go on; StopContext is a full window.
const (
	StopOther StopKind = iota
	StopEnd
	StopToolUse
	StopLength
	StopRefusal
	StopPause
	StopContext
)

var stopKindLabels = []string{"other", "end", "tool_use", "length", "refusal", "pause", "context"}

// String returns the stored label.
func (k StopKind) String() string { return labelOf(stopKindLabels, k) }

// MarshalText writes the stored label.
func (k StopKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a stored label; an unknown one is an error.
func (k *StopKind) UnmarshalText(b []byte) (err error) {
	*k, err = parseLabel[StopKind]("stop kind", stopKindLabels, string(b))
	return err
}
