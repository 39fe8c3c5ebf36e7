package assistant

import (
	"os"
	"slices"
	"testing"
	"time"
)

// P-SCALE-2, A-DUR-2: what a turn costs beside its model does not grow with the
// session. By default 120 turns say so roughly; CAR_BENCH_TURNS=1 plays 1,000.
func TestTurnOverheadDoesNotGrow(t *testing.T) {
	turns := 120
	if os.Getenv("CAR_BENCH_TURNS") != "" {
		turns = 1000
	}
	h := newHouse(t, says("A short answer."))
	h.model.forever = true
	c, f := h.start()
	took := make([]time.Duration, turns)
	for i := range took {
		from := time.Now()
		if err := c.Send(t.Context(), Input{Text: "A short question."}); err != nil {
			t.Fatal(err)
		}
		f.end()
		took[i] = time.Since(from)
	}
	early, late := median(took[5:25]), median(took[turns-20:])
	t.Logf("turn 10: %v, turn %d: %v, ratio %.2f", early, turns, late, float64(late)/float64(early))
	if late > 3*early {
		t.Errorf("a turn took %v in the beginning and %v after %d", early, late, turns)
	}
}

func median(all []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
