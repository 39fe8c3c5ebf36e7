package redact

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// minExact is the length below which an exact value is too common to mask.
const minExact = 8

// spellings returns the ways in which exact values are printed, longest first,
// so that a value within another does not leave its rest.
func spellings(exact []string) []string {
	var out []string
	add := func(s string) {
		if len(s) >= minExact && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	for _, v := range exact {
		if len(v) < minExact {
			continue
		}
		// A value with line ends is printed as lines.
		for line := range strings.SplitSeq(v, "\n") {
			add(strings.TrimRight(line, "\r"))
		}
		add(url.QueryEscape(v))
		add(url.PathEscape(v))
		for shift := range 3 {
			add(base64Core(v, shift, base64.RawStdEncoding))
			add(base64Core(v, shift, base64.RawURLEncoding))
		}
	}
	slices.SortFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// base64Core is the part of the encoding of v that is the same whatever stands
// in front of it (shift bytes, modulo three) and behind it.
func base64Core(v string, shift int, enc *base64.Encoding) string {
	text := enc.EncodeToString([]byte(strings.Repeat("\x00", shift) + v))
	from := []int{0, 2, 3}[shift]
	to := (shift + len(v)) / 3 * 4
	if shift == 0 {
		// The usual case is the value alone: take its encoding whole.
		return text
	}
	if to <= from {
		return ""
	}
	return text[from:to]
}
