package ir

import (
	"strconv"
	"unicode/utf8"
)

// ElidedPhrase marks text that TruncateKeepingEnds cut, for readers that count cuts.
const ElidedPhrase = "bytes elided from the middle"

const (
	// smallestBoth is the least room in which both ends and the marker are of use.
	smallestBoth = 512
	// markerBytes is set aside for the marker line.
	markerBytes = 128
)

// TruncateKeepingEnds fits text into max bytes (E-REND-5). It keeps the first
// third and the end, where a build or a test run says its verdict, and says
// between them how much is gone; below 512 bytes it keeps the end alone. The
// result is never longer than max and never cut inside a rune.
func TruncateKeepingEnds(s string, max int) string {
	if len(s) <= max {
		return s
	}
	if max < smallestBoth {
		return s[ceilRune(s, min(len(s), len(s)-max)):]
	}
	head, tail := ends(s, max-markerBytes)
	return s[:head] + "\n…[" + strconv.Itoa(tail-head) + " " + ElidedPhrase + " of " + strconv.Itoa(len(s)) +
		"; re-run with narrower output to see them]…\n" + s[tail:]
}

// clipKeepingEnds shows about n bytes of a line: its first third and its end.
func clipKeepingEnds(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head, tail := ends(s, n)
	return s[:head] + "…[" + strconv.Itoa(tail-head) + " bytes]…" + s[tail:]
}

// ends returns where the first n/3 bytes stop and the last n-n/3 begin, moved
// inwards to rune boundaries so that nothing grows.
func ends(s string, n int) (head, tail int) {
	return floorRune(s, n/3), ceilRune(s, len(s)-(n-n/3))
}

func floorRune(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

func ceilRune(s string, i int) int {
	for i < len(s) && !utf8.RuneStart(s[i]) {
		i++
	}
	return i
}
