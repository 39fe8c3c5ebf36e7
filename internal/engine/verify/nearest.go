package verify

import (
	"fmt"

	"car/internal/engine/verify/report"
)

// Bounds on the search for a name that was meant.
const (
	maxNames      = 1000
	maxNameLength = 64
)

// known says which tools there are, as far as it helps: what a wrong name may mean.
func (r registry) known(wrong string) string {
	best, least := "", max(2, len(wrong)/4)+1
	for _, name := range r.list[:min(len(r.list), maxNames)] {
		if d := distance(wrong, name); d < least {
			best, least = name, d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean '%s'?", report.Clip(best))
	}
	return fmt.Sprintf("%d tools are registered, none by this name", len(r.list))
}

// distance counts the letters to add, drop, change or swap with their neighbour; names
// that are too long are as far as can be.
func distance(a, b string) int {
	if len(a) > maxNameLength || len(b) > maxNameLength {
		return maxNameLength
	}
	row := func() []int { return make([]int, len(b)+1) }
	before, last, now := row(), row(), row()
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
