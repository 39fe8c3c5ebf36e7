package llm

// Request is all that one inference depends on (A-LLM-2). It is not changed by Stream.
type Request struct {
	// Model is the provider's own name of the model, sent unchanged.
	Model    string
	System   string
	Messages []Message
	// Tools are sent in this order; a caller that wants cache hits keeps it (A-CTX-4).
	Tools      []Tool
	ToolChoice ToolChoice
	// MaxTokens bounds the reply in tokens; 0 is the adapter's default.
	MaxTokens int
	Effort    Effort
	Cache     Cache
	// SessionID groups requests for the provider's prompt cache; it reveals nothing else.
	SessionID string
}

// ToolChoice says whether the model may, must or must not call a tool. The zero
// value lets it choose.
type ToolChoice struct {
	Mode ToolMode
	// Name is the one tool of ToolNamed.
	Name string
}

// ToolMode is how free the model is to call tools.
type ToolMode uint8

// The modes. ToolNone keeps the tools in the prompt, so that the prompt cache holds.
const (
	ToolAuto ToolMode = iota
	ToolNone
	ToolRequired
	ToolNamed
)

// Effort is how much reasoning to ask for; the zero value leaves it to the provider.
type Effort uint8

// From least to most. EffortOff asks for no reasoning where that can be asked for.
const (
	EffortDefault Effort = iota
	EffortOff
	EffortLow
	EffortMedium
	EffortHigh
	EffortMax
)

var effortLabels = []string{"default", "off", "low", "medium", "high", "max"}

// String returns the configuration label.
func (e Effort) String() string { return labelOf(effortLabels, e) }

// MarshalText writes the configuration label.
func (e Effort) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads a configuration label; an unknown one is an error.
func (e *Effort) UnmarshalText(b []byte) (err error) {
	*e, err = parseLabel[Effort]("effort", effortLabels, string(b))
	return err
}

// Cache asks for prompt caching and says for how long (A-CTX-5).
type Cache uint8

// Cache5m and Cache1h are lifetimes of Anthropic's cache; with other providers
// either one lets their automatic cache know the session.
const (
	CacheOff Cache = iota
	Cache5m
	Cache1h
)

var cacheLabels = []string{"off", "5m", "1h"}

// String returns the configuration label.
func (c Cache) String() string { return labelOf(cacheLabels, c) }

// MarshalText writes the configuration label.
func (c Cache) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads a configuration label; an unknown one is an error.
func (c *Cache) UnmarshalText(b []byte) (err error) {
	*c, err = parseLabel[Cache]("cache", cacheLabels, string(b))
	return err
}
