package dispatch

import (
	"context"
	"sync"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// env lends a tool what its ticket allows; what it does not allow is nil.
func (d *Dispatcher) env(g admit.Grant, state tool.State, j *journal, progress func(string)) tool.Env {
	e := tool.Env{State: state, Progress: progress, Dialect: d.cfg.Substrate.Describe().Dialect, Seen: d.seen(g.Call.Session),
		Jobs: d.jobsOf(g.Call.Session)}
	if e.Progress == nil {
		e.Progress = func(string) {}
	}
	f := newFiles(d.cfg.Substrate, d.cfg.CarHome, g.Effects, g.Approved)
	e.Files = f
	if len(g.Effects.Writes) > 0 {
		w := &writer{files: f, journal: j, keeper: &keeper{journal: d.cfg.Undo, root: f.root, turn: g.Call.Turn, action: g.Action.ID, of: g.Proposal}}
		e.Writer, e.Eraser = w, w
	}
	if g.Effects.Shell.Text != "" {
		s := &spawner{substrate: d.cfg.Substrate, redactor: d.cfg.Redactor, text: g.Effects.Shell.Text, name: spoolName(g), progress: e.Progress,
			network: g.Judgement.Tier.Covers(ir.FullAccess), git: onlyGit(g), now: d.cfg.Now, jobs: d.jobsOf(g.Call.Session), patience: d.cfg.Patience}
		e.Spawn, e.Launch = s, s
	}
	if p, ok := d.cfg.Substrate.(tool.Programs); ok && g.Effects.Program != nil {
		e.Program = &runner{programs: p, program: *g.Effects.Program, redactor: d.maskOf(g)}
	}
	if d.cfg.Web != nil && len(g.Effects.Hosts) > 0 {
		e.Web = &fetcher{web: d.cfg.Web, hosts: g.Effects.Hosts}
	}
	return e
}

// seen is the read ledger of a session (T-FILE-7).
func (d *Dispatcher) seen(session string) *Seen {
	ledger, _ := d.ledgers.LoadOrStore(session, &Seen{})
	return ledger.(*Seen)
}

// Forget drops a session's read ledger.
func (d *Dispatcher) Forget(session string) { d.ledgers.Delete(session) }

// Seen is what one session read. Safe for concurrent use.
type Seen struct{ byKey sync.Map }

// Note records a reading; the latest counts.
func (s *Seen) Note(key string, r tool.Reading) { s.byKey.Store(key, r) }

// Lookup finds the latest reading of a file.
func (s *Seen) Lookup(key string) (tool.Reading, bool) {
	r, ok := s.byKey.Load(key)
	if !ok {
		return tool.Reading{}, false
	}
	return r.(tool.Reading), true
}

// journal collects the file changes of one attempt.
type journal struct {
	mu   sync.Mutex
	list []ir.FileChange
}

func (j *journal) add(c ir.FileChange) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.list = append(j.list, c)
}

func (j *journal) changes() []ir.FileChange {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.list
}

// Previews makes previews of calls through reading eyes only.
type Previews struct {
	Substrate tool.Substrate
	CarHome   string
}

// Preview shows what a call would do, as far as its tool can show it, and what its git
// commands would lose (P-WORK-1).
func (p *Previews) Preview(ctx context.Context, t tool.Tool, call tool.Call, e tool.Effects, j policy.Judgement) ([]ir.Block, error) {
	lost := atStake(ctx, p.Substrate, j)
	shows, ok := t.(tool.Previewer)
	if !ok {
		return lost, nil
	}
	blocks, err := shows.Preview(ctx, call, newFiles(p.Substrate, p.CarHome, e, true))
	return append(blocks, lost...), err
}
