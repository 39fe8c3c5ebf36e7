package editfile

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// P-WORK-5, T-FILE-10, T-FILE-11: a random sequence of edits is the same edits of the
// bytes, whatever line ends, byte order mark, last line or invalid UTF-8 the file has.
func TestEditsAreThoseOfTheBytes(t *testing.T) {
	r := bench(t)
	rng := rand.New(rand.NewPCG(7, 11))
	for file := range 60 {
		var b strings.Builder
		odd := []string{"", "é界", "\xe9"}[file%3]
		if file%2 == 0 && odd != "\xe9" {
			b.WriteString("\xef\xbb\xbf")
		}
		lines := 2 + rng.IntN(20)
		for i := range lines {
			fmt.Fprintf(&b, "%s<%d>\t%s", odd, i, odd)
			if i < lines-1 || rng.IntN(2) == 0 {
				b.WriteString([]string{"\n", "\r\n"}[rng.IntN(2)])
			}
		}
		name, want := fmt.Sprintf("f%d", file), b.String()
		r.seen(t, name, want)
		for step := range 12 {
			from := fmt.Sprintf("<%d>", rng.IntN(lines))
			to := fmt.Sprintf("<%d.%d>", step, rng.IntN(1000))
			if strings.Count(want, from) != 1 {
				continue
			}
			r.Must(t, r.ef, swap(name, from, to))
			want = strings.Replace(want, from, to, 1)
			if got := r.Get(t, name); got != want {
				t.Fatalf("after %s → %s:\n%q, want\n%q", from, to, got, want)
			}
		}
	}
}
