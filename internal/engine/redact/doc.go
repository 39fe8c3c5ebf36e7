// Package redact takes secrets out of text before anything else sees it
// (G-REDACT-1, T-RED).
//
// It works line by line, because that is how programs print and how a stream
// can be masked with bounded memory; a private key block is the one thing that
// spans lines. Each detector marks spans of a line, in a file named after what
// it knows: exact values, key shapes (a table of prefixes), private keys, names
// with values, URLs and headers, and runs that look random. Marked spans become
// Mask.
//
// Precision is as much a requirement as reach: hashes, identifiers, checksums,
// public keys, pictures and source code that only speaks of a secret stay as
// they are. testdata/corpus decides; no row of it is ever edited.
//
// Invariants: a stream masks exactly what the whole text would, however it is
// cut; a masked text masks to itself; nothing is remembered but counts. A
// Redactor is immutable and safe for concurrent use.
//
// The package is a leaf: standard library only. To add a key shape, add a row to
// keyShapes; to add a detector, add a file with a function over a line and call
// it from (*Redactor).line.
package redact
