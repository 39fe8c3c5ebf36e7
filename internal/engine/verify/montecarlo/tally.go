package montecarlo

import (
	"cmp"
	"maps"
	"slices"

	"car/internal/engine/ir"
	"car/internal/engine/verify/dag"
	"car/internal/engine/verify/model"
)

// tally counts over the trials of a run, each with its weight.
type tally struct {
	r        *run
	total    float64
	goal     float64
	allLand  float64
	tried    histogram
	executed histogram
	actions  []actionTally
	// keys count, for each key of the plan, how often it held each source.
	keys []map[int]float64
	// rejected are the actions that the current trial rejected.
	rejected dag.Set
}

type actionTally struct{ rejected, failed, landed, blast float64 }

// histogram is a distribution over small numbers.
type histogram map[int]float64

func newTally(r *run) *tally {
	t := &tally{r: r, tried: histogram{}, executed: histogram{}, actions: make([]actionTally, len(r.p.Actions)), keys: make([]map[int]float64, len(r.plan.Keys)), rejected: dag.NewSet(len(r.p.Actions))}
	for k := range t.keys {
		t.keys[k] = map[int]float64{}
	}
	return t
}

// add counts the walk that just ended.
func (t *tally) add(weight float64) {
	r := t.r
	t.total += weight
	t.tried[r.tried] += weight
	if r.reached() {
		t.goal += weight
	}
	t.rejected.Clear()
	executed, missed := 0, 0
	for i := range t.actions {
		a := &t.actions[i]
		switch r.state.Ending(i) {
		case model.Rejected:
			a.rejected += weight
			t.rejected.Add(i)
		case model.Failed:
			a.failed += weight
			executed++
		default:
			a.landed += weight
			executed++
			continue
		}
		if _, reserved := r.plan.ReservedBy(i); !reserved {
			missed++
		}
	}
	t.executed[executed] += weight
	if missed == 0 {
		t.allLand += weight
	}
	for i := range t.actions {
		if r.state.Ending(i) == model.Failed {
			t.actions[i].blast += weight * float64(r.behind[i].in(t.rejected))
		}
	}
	for k := range t.keys {
		t.keys[k][r.state.Source(k)] += weight
	}
}

// Distribution is how a number spread over the trials; percentiles by nearest rank.
type Distribution struct {
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P95  float64 `json:"p95"`
	Max  float64 `json:"max"`
}

func (h histogram) distribution(total float64) Distribution {
	var d Distribution
	values := slices.Sorted(maps.Keys(h))
	if len(values) == 0 {
		return d
	}
	d.Min, d.Max = float64(values[0]), float64(values[len(values)-1])
	d.P50, d.P95 = d.Max, d.Max
	sum, half, most := 0.0, false, false
	for _, v := range values {
		d.Mean += float64(v) * h[v] / total
		sum += h[v]
		// Weights of the exact method add up with rounding, which must not move a rank.
		if !half && sum >= total*(0.5-1e-12) {
			half, d.P50 = true, float64(v)
		}
		if !most && sum >= total*(0.95-1e-12) {
			most, d.P95 = true, float64(v)
		}
	}
	return d
}

// maxValues bounds the values of a key that a result lists.
const maxValues = 16

// stateDistribution is what each key came to hold, by key: those of the plan, and
// those of the initial state that no action touches.
func (t *tally) stateDistribution() []KeyOutcome {
	outcomes := []KeyOutcome{}
	named := map[string]bool{}
	for k, name := range t.r.plan.Keys {
		named[name] = true
		if o := t.keyOutcome(name, t.keys[k]); o.PPresent+o.PUnknown > 0 {
			outcomes = append(outcomes, o)
		}
	}
	for name, v := range t.r.in.State {
		if !named[name] {
			outcomes = append(outcomes, KeyOutcome{Key: name, PPresent: 1, Values: []ValueFrequency{{Value: v, Probability: 1}}})
		}
	}
	slices.SortFunc(outcomes, func(a, b KeyOutcome) int { return cmp.Compare(a.Key, b.Key) })
	return outcomes
}

// keyOutcome adds up the sources that hold equal values.
func (t *tally) keyOutcome(name string, sources map[int]float64) KeyOutcome {
	o := KeyOutcome{Key: name, Values: []ValueFrequency{}}
	at := map[string]int{}
	var texts []string
	for _, source := range slices.Sorted(maps.Keys(sources)) {
		p := sources[source] / t.total
		if source < 0 {
			if source < -1 {
				o.PUnknown += p
			}
			continue
		}
		o.PPresent += p
		v := t.r.state.SourceValue(source)
		text := canonical(v)
		i, known := at[text]
		if !known {
			i = len(o.Values)
			at[text] = i
			o.Values, texts = append(o.Values, ValueFrequency{Value: v}), append(texts, text)
		}
		o.Values[i].Probability += p
	}
	order := make([]int, len(texts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(o.Values[b].Probability, o.Values[a].Probability), cmp.Compare(texts[a], texts[b]))
	})
	sorted := []ValueFrequency{}
	for _, i := range order[:min(len(order), maxValues)] {
		sorted = append(sorted, o.Values[i])
	}
	o.Values = sorted
	return o
}

func canonical(v any) string {
	text, err := ir.Canonical(v)
	if err != nil {
		return "\xff" // no value that JSON holds
	}
	return string(text)
}
