package trace

import (
	"errors"
	"fmt"
)

// monitor is the state of one rule on one trace. step returns the numbers of the
// events that decide a violation by e, nil for none; with change it also moves on.
type monitor interface {
	step(e *Event, change bool) []uint64
	// end lists the violations that the end of the trace makes.
	end() [][]uint64
}

func compileNever(p Pattern) (compiled, error) {
	one, err := compilePattern("never", p)
	return compiled{form: "never", patterns: []*pattern{&one}, enforceable: one.phase() == Dispatch,
		make: func() monitor { return &never{&one} }}, err
}

// never: always not e.
type never struct{ event *pattern }

func (n *never) step(e *Event, _ bool) []uint64 {
	if n.event.matches(e) {
		return []uint64{e.Seq}
	}
	return nil
}

func (*never) end() [][]uint64 { return nil }

func compileBefore(b Before) (compiled, error) {
	first, err1 := compilePattern("before.first", b.First)
	then, err2 := compilePattern("before.then", b.Then)
	return compiled{form: "before", patterns: []*pattern{&first, &then}, enforceable: then.phase() == Dispatch,
		make: func() monitor { return &before{first: &first, then: &then} }}, errors.Join(err1, err2)
}

// before: no Then until First was.
type before struct {
	first, then *pattern
	seen        bool
}

func (b *before) step(e *Event, change bool) []uint64 {
	if b.seen {
		return nil
	}
	early := b.then.matches(e)
	if change {
		b.seen = b.first.matches(e)
	}
	if early {
		return []uint64{e.Seq}
	}
	return nil
}

func (*before) end() [][]uint64 { return nil }

func compileAfter(a After) (compiled, error) {
	first, err1 := compilePattern("after.first", a.First)
	bad, err2 := compilePattern("after.never", a.Never)
	c := compiled{form: "after", patterns: []*pattern{&first, &bad}, enforceable: bad.phase() == Dispatch}
	var until *pattern
	var err3 error
	if a.Until != nil {
		var p pattern
		p, err3 = compilePattern("after.until", *a.Until)
		until = &p
		c.patterns = append(c.patterns, until)
	}
	c.make = func() monitor { return &after{first: &first, bad: &bad, until: until} }
	return c, errors.Join(err1, err2, err3)
}

// after: behind First no Never, weakly until Until. What is First and Never at once
// arms the rule and does not break it.
type after struct {
	first, bad, until *pattern
	armed             bool
	by                uint64
}

func (a *after) step(e *Event, change bool) []uint64 {
	var because []uint64
	armed := a.armed && (a.until == nil || !a.until.matches(e))
	if armed && a.bad.matches(e) {
		because = []uint64{a.by, e.Seq}
	}
	if change {
		if a.armed = armed; !armed && a.first.matches(e) {
			a.armed, a.by = true, e.Seq
		}
	}
	return because
}

func (*after) end() [][]uint64 { return nil }

func compileAtMost(a AtMost) (compiled, error) {
	event, err := compilePattern("at_most.event", a.Event)
	if a.N < 0 || a.N > maxCount {
		err = errors.Join(err, fmt.Errorf("at_most.n must be between 0 and %d", maxCount))
	}
	return compiled{form: "at_most", patterns: []*pattern{&event}, enforceable: event.phase() == Dispatch,
		make: func() monitor { return &atMost{event: &event, n: int(a.N)} }}, err
}

// atMost counts, and keeps the numbers of what it counted, which are the witness.
type atMost struct {
	event *pattern
	n     int
	seen  []uint64
}

func (a *atMost) step(e *Event, change bool) []uint64 {
	if !a.event.matches(e) {
		return nil
	}
	if len(a.seen) < a.n {
		if change {
			a.seen = append(a.seen, e.Seq)
		}
		return nil
	}
	return append(append([]uint64(nil), a.seen...), e.Seq)
}

func (*atMost) end() [][]uint64 { return nil }

func compileWithin(w Within) (compiled, error) {
	event, err1 := compilePattern("within.event", w.Event)
	then, err2 := compilePattern("within.then", w.Then)
	err := errors.Join(err1, err2)
	if w.N < 1 || w.N > maxCount {
		err = errors.Join(err, fmt.Errorf("within.n must be between 1 and %d", maxCount))
	}
	return compiled{form: "within", patterns: []*pattern{&event, &then}, everyDispatch: true, enforceable: true,
		make: func() monitor { return &within{event: &event, then: &then, n: uint64(w.N)} }}, err
}

// within keeps a window for each Event that still waits for its Then. One Then
// closes all of them; they run out in the order in which they were opened.
type within struct {
	event, then *pattern
	n           uint64
	// dispatched counts dispatches; recent are the numbers of those since the oldest
	// window was opened, for the witness.
	dispatched uint64
	windows    []window
	recent     []uint64
}

// window is one Event: its number, and how many dispatches there were by then.
type window struct{ by, at uint64 }

func (w *within) step(e *Event, change bool) []uint64 {
	closes := w.then.matches(e)
	var because []uint64
	count := w.dispatched
	if e.Phase == Dispatch {
		count++
	}
	if !closes && len(w.windows) > 0 && e.Phase == Dispatch && w.spent(count-w.windows[0].at) {
		because = append(append([]uint64{w.windows[0].by}, w.recent...), e.Seq)
	}
	if change {
		w.move(e, closes, because != nil)
	}
	return because
}

// spent tells whether a window that saw so many dispatches is used up. The result of
// the last one may still be its Then.
func (w *within) spent(since uint64) bool {
	if w.then.phase() == Result {
		return since > w.n
	}
	return since >= w.n
}

func (w *within) move(e *Event, closes, ran bool) {
	if e.Phase == Dispatch {
		w.dispatched++
		if len(w.windows) > 0 {
			w.recent = append(w.recent, e.Seq)
		}
	}
	switch {
	case closes:
		w.windows, w.recent = w.windows[:0], w.recent[:0]
	case ran:
		w.dropFirst()
	}
	// Two that open between the same dispatches have one fate.
	twin := len(w.windows) > 0 && w.windows[len(w.windows)-1].at == w.dispatched
	if !closes && !twin && w.event.matches(e) {
		w.windows = append(w.windows, window{e.Seq, w.dispatched})
	}
}

// dropFirst forgets the oldest window and the dispatches that only it saw.
func (w *within) dropFirst() {
	w.windows = w.windows[1:]
	keep := uint64(0)
	if len(w.windows) > 0 {
		keep = w.dispatched - w.windows[0].at
	}
	w.recent = w.recent[uint64(len(w.recent))-min(keep, uint64(len(w.recent))):]
}

func (w *within) end() [][]uint64 {
	var out [][]uint64
	for _, one := range w.windows {
		out = append(out, []uint64{one.by})
	}
	return out
}
