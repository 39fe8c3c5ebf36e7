package ir

// ChunkKind is the kind of a stream chunk (E-IR-8). The zero value is unset.
type ChunkKind uint8

// The kinds; the last two end a stream.
const (
	ChunkUnset ChunkKind = iota
	ChunkText
	ChunkData
	ChunkProgress
	ChunkDone
	ChunkError
)

var chunkKindLabels = []string{ChunkText: "text", ChunkData: "data", ChunkProgress: "progress", ChunkDone: "done", ChunkError: "error"}

// String returns the wire label.
func (k ChunkKind) String() string { return labelOf(chunkKindLabels, k) }

// MarshalText writes the wire label.
func (k ChunkKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (k *ChunkKind) UnmarshalText(b []byte) (err error) {
	*k, err = parseLabel[ChunkKind]("chunk kind", chunkKindLabels, string(b))
	return err
}

// Terminal reports whether nothing follows a chunk of this kind.
func (k ChunkKind) Terminal() bool { return k == ChunkDone || k == ChunkError }

// Chunk is one piece of a detached tool's stream (E-IR-8).
type Chunk struct {
	Kind ChunkKind `json:"kind"`
	Text string    `json:"text,omitempty"`
	Data any       `json:"data,omitempty"`
	// Fraction is progress from 0 to 1, with an optional Message; Message is also the error's text.
	Fraction float64 `json:"fraction,omitempty"`
	Message  string  `json:"message,omitempty"`
	Result   any     `json:"result,omitempty"`
}

// StreamStatus is where a detached tool stands (E-IR-8).
type StreamStatus uint8

// The statuses.
const (
	StreamRunning StreamStatus = iota
	StreamSucceeded
	StreamFailed
	StreamCancelled
)

var streamStatusLabels = []string{"running", "succeeded", "failed", "cancelled"}

// String returns the wire label.
func (s StreamStatus) String() string { return labelOf(streamStatusLabels, s) }

// MarshalText writes the wire label.
func (s StreamStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a wire label; an unknown one is an error.
func (s *StreamStatus) UnmarshalText(b []byte) (err error) {
	*s, err = parseLabel[StreamStatus]("stream status", streamStatusLabels, string(b))
	return err
}

// StreamEvent is a chunk with the handle it belongs to (E-IR-8).
type StreamEvent struct {
	Handle string `json:"handle"`
	Chunk  Chunk  `json:"chunk"`
}
