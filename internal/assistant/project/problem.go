package project

import (
	"fmt"
	"strings"
)

// Error is one thing that is wrong with a file: set-up, exit 2. Load joins all it
// finds; errors.As gives the first.
type Error struct {
	File string
	// Line counts from 1; 0 is the whole file.
	Line int
	// Key is the path of the key, as in `tools.read_outside`; empty is the file itself.
	Key     string
	Problem string
	// Hint is what to do, may be empty.
	Hint string
	Err  error
}

// Error reads FILE:LINE: KEY: what is wrong; what to do.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": ")
	if e.Key != "" {
		b.WriteString(e.Key + ": ")
	}
	b.WriteString(e.Problem)
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// nearest returns the known word that is meant, or nothing where none is near.
func nearest(word string, known []string) string {
	best, least := "", max(2, len(word)/3)+1
	for _, k := range known {
		if d := distance(strings.ToLower(word), strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return best
	}
	for _, k := range known {
		if len(word) >= 4 && strings.HasPrefix(k, word) {
			return k
		}
	}
	return ""
}

// distance counts the edits between two words (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
