// Package anthropic speaks Anthropic's Messages API, to its own server and to any
// gateway that offers the same. Start at New; provider.go has the door, request.go
// builds a request, reply.go reads a stream.
//
// Invariants (A-LLM-5): a reply is whole only with message_stop and a stop reason;
// frames are known by the type in their data, so that a server which names no
// events is read all the same; the input of a call stays text until the reply is
// whole; thinking blocks go back as they came, to the model that made them;
// adaptive thinking is the only kind asked for.
//
// It may import llm and llm/wire.
package anthropic
