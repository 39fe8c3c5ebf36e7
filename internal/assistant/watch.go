package assistant

import (
	"fmt"
	"maps"

	"car/internal/engine/ir"
)

// watch sees calls that lead nowhere: the same call with the same result again and
// again, or a short round of calls that repeats (A-LOOP-15, P-STREAM-6).
type watch struct {
	off    bool
	seen   []watched // the last calls, oldest first
	hinted bool
}

// watched is a call by its identity, and its result.
type watched struct{ call, result string }

// after takes the calls of a step. hint is said to the model once; stuck ends the run.
func (w *watch) after(plan []*call, results map[ir.ActionID]ir.ActionResult) (hint, stuck string) {
	for _, c := range plan {
		now := watched{call: callIdentity(c), result: resultIdentity(results[c.id])}
		w.forgetChanged(now)
		w.seen = append(w.seen, now)
		if len(w.seen) > watchWindow {
			w.seen = w.seen[1:]
		}
		if w.off {
			continue
		}
		if n := w.count(now); n >= watchStop {
			return "", fmt.Sprintf("no progress: %s was called %d times with the same arguments and the same result", c.Name, n)
		} else if n >= watchHint && !w.hinted {
			w.hinted = true
			hint = fmt.Sprintf("You have called %s %d times with the same arguments and the same result. It will not change; do something else, or say what stands in the way", c.Name, n)
		}
		switch period, times := w.round(); {
		case times >= watchRepeats:
			return "", fmt.Sprintf("no progress: the same round of %d calls was made %d times with the same results", period, times)
		case times == watchRepeats-1 && !w.hinted:
			w.hinted = true
			hint = fmt.Sprintf("Your last %d calls repeat the %d before them, with the same results. Do something else, or say what stands in the way", period, period)
		}
	}
	return hint, ""
}

// forgetChanged drops earlier sights of a call whose result is another one now.
func (w *watch) forgetChanged(now watched) {
	kept := w.seen[:0]
	for _, s := range w.seen {
		if s.call != now.call || s.result == now.result {
			kept = append(kept, s)
		}
	}
	if len(kept) < len(w.seen) {
		w.hinted = false
	}
	w.seen = kept
}

func (w *watch) count(now watched) int {
	n := 0
	for _, s := range w.seen {
		if s == now {
			n++
		}
	}
	return n
}

// round finds the round of two to four different calls at the end that was made
// most often in a row.
func (w *watch) round() (period, times int) {
	for p := 2; p <= watchPeriod; p++ {
		n := 1
		for at := len(w.seen) - 2*p; at >= 0 && w.same(at, p); at -= p {
			n++
		}
		if n > times && w.varied(p) {
			period, times = p, n
		}
	}
	return period, times
}

// same compares the p calls from at with the last p.
func (w *watch) same(at, p int) bool {
	last := w.seen[len(w.seen)-p:]
	for i, s := range w.seen[at : at+p] {
		if s != last[i] {
			return false
		}
	}
	return true
}

// varied keeps one call that repeats out of the rounds: count sees it.
func (w *watch) varied(p int) bool {
	if len(w.seen) < p {
		return false
	}
	last := w.seen[len(w.seen)-p:]
	for _, s := range last[1:] {
		if s != last[0] {
			return true
		}
	}
	return false
}

func callIdentity(c *call) string {
	if digest, err := ir.DigestOf(c.params); err == nil && c.params != nil {
		return c.Name + " " + string(digest)
	}
	return c.Name + " " + c.Arguments
}

// resultIdentity leaves out what differs between two runs of the same thing.
func resultIdentity(r ir.ActionResult) string {
	output := r.Output
	if out, ok := output.(map[string]any); ok {
		same := maps.Clone(out)
		for _, name := range []string{"duration_ms", "spool", "left_running", "job_id"} {
			delete(same, name)
		}
		output = same
	}
	digest, err := ir.DigestOf([]any{r.Status.String(), r.Error, output})
	if err != nil {
		return r.Status.String() + r.Error
	}
	return string(digest)
}
