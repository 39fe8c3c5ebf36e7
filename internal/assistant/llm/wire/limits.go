package wire

import "time"

// The numbers of this package (A-LLM-9).
const (
	// maxEvent bounds one server-sent event, in bytes.
	maxEvent = 4 << 20
	// maxErrorBody bounds what is read of an answer that is an error.
	maxErrorBody = 64 << 10
	// maxAnswer bounds an answer that is one JSON document.
	maxAnswer = 32 << 20
	// maxMessage bounds the text of an error, in bytes.
	maxMessage = 600

	// idleLimit is the silence after which a stream has stalled.
	idleLimit = 90 * time.Second
	// localFirstByte is how long a local server may load a model and read a prompt.
	localFirstByte = 600 * time.Second
	// drainLimit is how long the end of a finished answer is waited for, so that its connection can be used again.
	drainLimit = 100 * time.Millisecond

	dialLimit      = 30 * time.Second
	handshakeLimit = 15 * time.Second
	idleConnection = 90 * time.Second
)
