// Package textfile is the mechanics of text in files, shared by the tools that
// read, write, edit and search it: encodings (T-FILE-10), line ends (T-FILE-11),
// what is binary (T-FILE-12), numbered lines and unified diffs.
//
// Invariant: Decode then Encode of a text that nobody changed gives back the
// same bytes; an encoding for which that does not hold is Unknown.
//
// It holds pure functions and imports nothing of this module. Another encoding
// is a member of Encoding with its two directions and a row in the round-trip test.
package textfile
