package editfile

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"car/internal/tools/textfile"
)

const (
	// similarity is the least likeness of lines that are worth showing (T-FILE-17).
	similarity = 0.6
	// work bounds the pairs of lines that are compared letter by letter.
	work = 100_000
)

// window is a run of lines that resembles old_text.
type window struct {
	// line is its first line, from 1; count its length.
	line, count int
	difference  string
}

// similar finds the lines of text that are most like old, if any are enough.
// Equal lines count 1, others by the pairs of letters they share.
func similar(text, old string) (window, bool) {
	have, want := textfile.Lines(text), textfile.Lines(old)
	grams := make([]map[[2]rune]int, len(want))
	for i, l := range want {
		grams[i] = pairs(l)
	}
	best, at := 0.0, -1
	for _, start := range starts(have, want) {
		sum := 0.0
		for i := range min(len(want), len(have)-start) {
			sum += like(want[i], grams[i], have[start+i])
		}
		if score := sum / float64(len(want)); score > best {
			best, at = score, start
		}
	}
	if best < similarity {
		return window{}, false
	}
	return window{line: at + 1, count: len(want), difference: difference(have[at:min(at+len(want), len(have))], want, at+1)}, true
}

// starts are the lines at which a window is worth a look: where it would put an
// equal line beside its like, and all of them when there is none and few to try.
func starts(have, want []string) []int {
	wanted := map[string][]int{}
	for i, l := range want {
		if l = strings.TrimSpace(l); len(l) > 1 {
			wanted[l] = append(wanted[l], i)
		}
	}
	var found []int
	seen := map[int]bool{}
	for j, l := range have {
		for _, i := range wanted[strings.TrimSpace(l)] {
			if start := j - i; start >= 0 && !seen[start] && len(seen)*len(want) < work {
				seen[start] = true
				found = append(found, start)
			}
		}
	}
	if len(found) == 0 && len(have)*len(want) <= work {
		for j := range have {
			found = append(found, j)
		}
	}
	return found
}

func like(want string, grams map[[2]rune]int, have string) float64 {
	switch {
	case strings.TrimSpace(want) == strings.TrimSpace(have):
		return 1
	case len(want) > 2000 || len(have) > 2000:
		return 0
	}
	return dice(grams, pairs(have))
}

// pairs counts the neighbouring letters of a line.
func pairs(s string) map[[2]rune]int {
	m := map[[2]rune]int{}
	last := ' '
	for _, r := range strings.TrimSpace(s) {
		m[[2]rune{last, r}]++
		last = r
	}
	return m
}

// dice is twice what two bags share over what they hold together.
func dice(a, b map[[2]rune]int) float64 {
	shared, all := 0, 0
	for k, n := range a {
		shared += min(n, b[k])
		all += n
	}
	for _, n := range b {
		all += n
	}
	if all == 0 {
		return 0
	}
	return 2 * float64(shared) / float64(all)
}

// difference words the first place at which lines differ.
func difference(have, want []string, line int) string {
	for i, w := range want {
		if i >= len(have) {
			return fmt.Sprintf("the file ends before its line %d", line+i)
		}
		if have[i] == w {
			continue
		}
		at := 0
		for at < len(w) && at < len(have[i]) && w[at] == have[i][at] {
			at++
		}
		for at > 0 && (at < len(w) && !utf8.RuneStart(w[at]) || at < len(have[i]) && !utf8.RuneStart(have[i][at])) {
			at--
		}
		return fmt.Sprintf("the first difference is in line %d, character %d: the file has %q, old_text has %q",
			line+i, utf8.RuneCountInString(w[:at])+1, excerpt(have[i][at:]), excerpt(w[at:]))
	}
	return "it differs in its line ends"
}

func excerpt(s string) string {
	head, cut := textfile.Clip(s, 30)
	if cut > 0 {
		head += "…"
	}
	return head
}
