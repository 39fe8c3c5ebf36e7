package span

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// Config makes a Recorder. All of it is required.
type Config struct {
	Now func() time.Time
	// Rand is where ids come from.
	Rand io.Reader
	// Emit is handed every trace once its root has ended, its spans in the order they
	// ended. It is not called concurrently.
	Emit func(trace []Span) error
}

// Recorder follows spans from their start to their end. Safe for concurrent use. A
// nil Recorder records nothing.
type Recorder struct {
	cfg Config

	mu sync.Mutex
	// Guarded by mu.
	traces map[TraceID]*trace
	err    error
}

// trace is one in the making.
type trace struct {
	open  map[ID]*Span
	order []ID // of those that are open, in the order they were started
	ended []Span
}

// New makes a recorder or says which field is missing.
func New(c Config) (*Recorder, error) {
	if c.Now == nil || c.Rand == nil || c.Emit == nil {
		return nil, errors.New("span: Config needs Now, Rand and Emit")
	}
	return &Recorder{cfg: c, traces: map[TraceID]*trace{}}, nil
}

// Start begins a span below another, or a trace below none.
func (r *Recorder) Start(name string, parent Ref, attributes ...Attr) Ref {
	if r == nil {
		return Ref{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	ref := Ref{Trace: parent.Trace}
	t := r.traces[ref.Trace]
	if t == nil { // the parent is none, or of a trace that has ended
		r.draw(ref.Trace[:])
		t = &trace{open: map[ID]*Span{}}
		r.traces[ref.Trace], parent = t, Ref{}
	}
	r.draw(ref.Span[:])
	t.open[ref.Span] = &Span{Ref: ref, Parent: parent.Span, Name: name, Attributes: attributes, Start: r.cfg.Now()}
	t.order = append(t.order, ref.Span)
	return ref
}

func (r *Recorder) draw(id []byte) {
	if _, err := io.ReadFull(r.cfg.Rand, id); err != nil {
		r.err = errors.Join(r.err, fmt.Errorf("span id: %w", err))
	}
}

// End ends a span. The end of a trace's root ends what is still open below it and
// hands the trace on. Ending one again changes nothing.
func (r *Recorder) End(ref Ref, s Status) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.traces[ref.Trace]
	if t == nil || t.open[ref.Span] == nil {
		return
	}
	if t.open[ref.Span].Parent != (ID{}) {
		t.end(ref.Span, s, r.cfg.Now())
		return
	}
	now := r.cfg.Now()
	for i := len(t.order) - 1; i > 0; i-- {
		t.end(t.order[i], Unset, now)
	}
	t.end(ref.Span, s, now)
	delete(r.traces, ref.Trace)
	if err := r.cfg.Emit(t.ended); err != nil {
		r.err = errors.Join(r.err, fmt.Errorf("write spans: %w", err))
	}
}

// end moves a span that is open to those that have ended.
func (t *trace) end(id ID, s Status, now time.Time) {
	open := t.open[id]
	if open == nil {
		return
	}
	open.Status, open.End = s, now
	t.ended = append(t.ended, *open)
	delete(t.open, id)
}

// Close says what could not be recorded.
func (r *Recorder) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}
