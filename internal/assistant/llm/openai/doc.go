// Package openai speaks OpenAI's Responses to OpenAI itself, and its Chat Completions
// to every server that offers the same by its base URL: llama.cpp, vLLM, Ollama, LM Studio,
// OpenRouter, DeepSeek, Mistral and others. Start at New; provider.go has the
// door, chat_request.go builds a request, chat_reply.go reads a stream,
// chat_calls.go puts fragments of tool calls where they belong.
//
// responses_request.go and responses_reply.go do the same for the other format.
//
// A format of the API is a dialect: a path, an encoder and a reader.
// Another one is added as a value of API with its dialect in api.go.
//
// Invariants (A-LLM-6, A-LLM-7): a reply without [DONE] and without a finish reason
// is cut, and so is one of Responses without its last event; "error": null is no error; a call is opened by a new id, and an index
// only routes fragments; arguments stay text; reasoning goes back to its model only.
//
// It may import llm and llm/wire.
package openai
