// Package redact takes secrets out of text. It is a leaf: it imports only the
// standard library and knows nothing of tools, sessions or logs.
package redact
