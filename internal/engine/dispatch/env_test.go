package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"car/internal/engine/admit"
	"car/internal/engine/approval"
	"car/internal/engine/dispatch"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/redact"
	"car/internal/engine/tool"
	"car/internal/tools/substrate"
)

// probe is a tool that does what a test says with the Env it is lent.
type probe struct {
	effects tool.Effects
	preview func() []ir.Block
	run     func(ctx context.Context, e tool.Env) (tool.Execution, error)
}

func (probe) Spec() tool.Spec { return tool.Spec{Name: "probe", Parameters: json.RawMessage(`{}`)} }

func (p probe) Effects(tool.Call) (tool.Effects, error) { return p.effects, nil }

func (p probe) Run(ctx context.Context, _ tool.Call, e tool.Env) (tool.Execution, error) {
	return p.run(ctx, e)
}

func (p probe) Preview(context.Context, tool.Call, tool.Files) ([]ir.Block, error) {
	if p.preview == nil {
		return nil, nil
	}
	return p.preview(), nil
}

func (p probe) Lookup(string) (tool.Tool, bool) { return p, true }

func (probe) Schemas() []ir.ToolSchema { return nil }

// asks is a judge and an approver: everything is asked, and allowed.
type asks struct{ verdict policy.Verdict }

func (a asks) Judge(ir.Action, tool.Effects) policy.Judgement {
	return policy.Judgement{Verdict: a.verdict, Tier: ir.SandboxEdit}
}

func (asks) Take(ir.Action) []policy.Violation { return nil }

func (asks) CheckState(ir.Action, func(string) (any, bool)) []policy.Violation { return nil }

func (asks) Approve(_ context.Context, r []admit.Request) ([]admit.Decision, error) {
	return []admit.Decision{{Kind: admit.AllowOnce, By: "user"}}, nil
}

// rows is a Recorder that remembers the states it was told of.
type rows struct{ said []string }

func (r *rows) Propose(context.Context, approval.Effect) error {
	r.said = append(r.said, "proposed")
	return nil
}

func (r *rows) Decide(context.Context, approval.EffectID, approval.Verdict) error {
	r.said = append(r.said, "decided")
	return nil
}

func (r *rows) BeforeDispatch(context.Context, approval.Effect) error {
	r.said = append(r.said, "dispatched")
	return nil
}

func (r *rows) AfterDispatch(_ context.Context, _ approval.EffectID, o approval.Outcome) error {
	r.said = append(r.said, map[bool]string{true: "completed", false: "failed"}[o.Completed])
	return nil
}

func (r *rows) Grants(context.Context, string) ([]string, error) { return nil, nil }
func (r *rows) Standing(context.Context, approval.EffectID) (approval.Verdict, bool, error) {
	return approval.Verdict{}, false, nil
}

// bench is one dispatcher over a real folder.
type bench struct {
	root, outside, home string
	rows                *rows
	redactor            *redact.Redactor
	place               tool.Substrate
	patience            time.Duration
}

func newBench(t *testing.T) *bench {
	t.Helper()
	base := t.TempDir()
	b := &bench{root: filepath.Join(base, "root"), outside: filepath.Join(base, "outside"), rows: &rows{}, redactor: redact.New([]string{"hunter2-very-secret"})}
	b.home = filepath.Join(b.root, "carhome")
	for _, dir := range []string{b.root, b.outside, b.home, filepath.Join(b.root, ".car"), filepath.Join(b.root, ".git/hooks")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	b.place, err = substrate.Open(substrate.Config{Root: b.root, ScratchBase: filepath.Join(base), UID: "1", Session: "s", Now: time.Now, Env: []string{"PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.place.Close() })
	return b
}

func (b *bench) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(b.root, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run admits the probe's one action and dispatches it.
func (b *bench) run(t *testing.T, p probe, verdict policy.Verdict) dispatch.Attempt {
	t.Helper()
	log, err := eventlog.Open(eventlog.Config{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	previews := &dispatch.Previews{Substrate: b.place, CarHome: b.home}
	office, err := admit.New(admit.Config{Tools: p, Judge: asks{verdict}, Approver: asks{}, Recorder: b.rows, Log: log, Where: b.place.Describe(), Previews: previews})
	if err != nil {
		t.Fatal(err)
	}
	d, err := dispatch.New(dispatch.Config{Office: office, Recorder: b.rows, Log: log, Substrate: b.place, Previews: previews, Redactor: b.redactor, CarHome: b.home, Now: time.Now, NewID: func() string { return "h" }, Patience: b.patience, Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	proposal := ir.Proposal{ID: "p", Actions: []ir.Action{{ID: "a", Type: ir.ToolCall, Tool: "probe"}}}.
		Fill(ir.Defaults{NewID: func() string { return "p" }, Now: time.Now})
	adm, whole, err := office.Admit(t.Context(), proposal, admit.Options{Session: "s"})
	if err != nil || whole != nil {
		t.Fatal(err, whole)
	}
	if _, err := adm.Ask(t.Context(), []int{0}); err != nil {
		t.Fatal(err)
	}
	ticket, err := adm.Draw(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return d.Run(t.Context(), ticket, nil, nil)
}

// replaces tries one write that its effects declare.
func replaces(path string, expect ir.Digest) probe {
	return probe{effects: tool.Effects{Declared: true, Writes: []string{path}}, run: func(ctx context.Context, e tool.Env) (tool.Execution, error) {
		_, err := e.Writer.Replace(ctx, path, tool.Replacement{Content: []byte("new"), Expect: expect})
		return tool.Execution{}, err
	}}
}

// T-FILE-2..4, G-TRUST-3, B025: a write stays inside the root and off the
// governor's and git's own files, by name or through a link, in any letter case.
func TestWritesAreConfined(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	links := map[string]string{"out": b.outside, "policies": filepath.Join(b.root, ".car"), "hook": ".git/hooks"}
	for name, target := range links {
		if err := os.Symlink(target, filepath.Join(b.root, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{"../x", "out/x", filepath.Join(b.outside, "x"), ".car/x", ".CAR/x", "sub/.car/x", ".car. /x", "policies/x", ".git/hooks/pre-commit",
		"hook/pre-commit", ".git/config", "sub/.git/config", ".git", "carhome/x"} {
		if a := b.run(t, replaces(path, ""), policy.Allow); a.Err == nil {
			t.Errorf("%s was written", path)
		}
	}
	for _, dir := range []string{b.outside, b.home, filepath.Join(b.root, ".car"), filepath.Join(b.root, ".git/hooks")} {
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s holds %v, %v", dir, left, err)
		}
	}
	if a := b.run(t, replaces("deep/er/x", ""), policy.Allow); a.Err != nil || len(a.Changes) != 1 || a.Changes[0].Before != "" || a.Changes[0].After != ir.DigestBytes([]byte("new")) {
		t.Errorf("a plain write: %+v", a)
	}
}

// T-SET-1: a call writes what it declared and nothing else; one that declared no write has no Writer at all.
func TestOnlyDeclaredWrites(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := replaces("a", "")
	p.effects.Writes = []string{"b"}
	if a := b.run(t, p, policy.Allow); a.Err == nil || !strings.Contains(a.Err.Error(), "not declared") {
		t.Errorf("%+v", a)
	}
	p = probe{effects: tool.Effects{Declared: true, Reads: []string{"."}}, run: func(_ context.Context, e tool.Env) (tool.Execution, error) {
		if e.Writer != nil || e.Spawn != nil {
			t.Error("a reading call was lent a writer or a shell")
		}
		return tool.Execution{}, nil
	}}
	if a := b.run(t, p, policy.Allow); a.Err != nil {
		t.Error(a.Err)
	}
}

// P-WORK-5, B029: content is compared just before the rename; stale is refused with the fresh text.
func TestStaleIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(t, "menu.txt", "theirs")
	for name, expect := range map[string]ir.Digest{"believed other": ir.DigestBytes([]byte("mine")), "believed absent": ""} {
		a := b.run(t, replaces("menu.txt", expect), policy.Allow)
		var stale *tool.StaleError
		if !errors.As(a.Err, &stale) || string(stale.Fresh) != "theirs" {
			t.Errorf("%s: %v", name, a.Err)
		}
	}
	if a := b.run(t, replaces("menu.txt", ir.DigestBytes([]byte("theirs"))), policy.Allow); a.Err != nil || a.Changes[0].Before == "" {
		t.Errorf("fresh: %+v", a)
	}
	if a := b.run(t, replaces("gone.txt", ir.DigestBytes([]byte("x"))), policy.Allow); a.Err == nil {
		t.Error("a file that is gone was written as if it were there")
	}
}

// opens tries to read one path.
func opens(declared, path string) probe {
	return probe{effects: tool.Effects{Declared: true, Reads: []string{declared}}, run: func(_ context.Context, e tool.Env) (tool.Execution, error) {
		f, err := e.Files.Open(path)
		if err != nil {
			return tool.Execution{}, err
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		return tool.Execution{Output: string(text)}, err
	}}
}

// D-4, T-FILE-3..5, law 8: outside the root only what was declared and judged;
// never the person's own folder; a secret file only by a person's word for it.
func TestReadsAreConfined(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write(t, "in.txt", "inside")
	b.write(t, ".env", "A=1")
	b.write(t, "carhome/car.db", "state")
	away := filepath.Join(b.outside, "away.txt")
	if err := os.WriteFile(away, []byte("outside"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		declared, path string
		verdict        policy.Verdict
		want           string
	}{
		{".", "in.txt", policy.Allow, "inside"},
		{".", away, policy.Allow, ""},
		{away, away, policy.Ask, "outside"},
		{".", ".env", policy.Allow, ""},
		{".", ".env", policy.Ask, ""},
		{".env", ".env", policy.Ask, "A=1"},
		{"carhome/car.db", "carhome/car.db", policy.Ask, ""},
	} {
		a := b.run(t, opens(c.declared, c.path), c.verdict)
		if got, _ := a.Execution.Output.(string); got != c.want || (a.Err == nil) != (c.want != "") {
			t.Errorf("%+v: %q, %v", c, got, a.Err)
		}
	}
}

// G-SHELL-5: the shell runs the text that was admitted, byte for byte, and none other.
func TestSpawnRunsTheAdmittedText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := "printf 'a\\033[31mb\\n'; echo hunter2-very-secret"
	var out tool.Outcome
	p := probe{effects: tool.Effects{Declared: true, Shell: tool.Shell{Text: text}}, run: func(ctx context.Context, e tool.Env) (tool.Execution, error) {
		var err error
		if _, err = e.Spawn.Spawn(ctx, tool.Command{Text: text + " "}); err == nil {
			t.Error("another text ran")
		}
		out, err = e.Spawn.Spawn(ctx, tool.Command{Text: text})
		return tool.Execution{}, err
	}}
	if a := b.run(t, p, policy.Allow); a.Err != nil {
		t.Fatal(a.Err)
	}
	if out.Output != "ab\n"+redact.Mask+"\n" || out.Redacted != 1 || out.Code != 0 {
		t.Errorf("%+v", out) // T-SHELL-8, T-RED-4
	}
}

// P-GUARD-2, E-PIPE-7: a yes is bound to the preview it was given to.
func TestAChangedPreviewIsNotApproved(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	n := 0
	p := probe{effects: tool.Effects{Declared: true, Writes: []string{"x"}}, preview: func() []ir.Block {
		n++
		return []ir.Block{{Kind: ir.BlockDiff, Text: strings.Repeat("+", n)}}
	}, run: func(context.Context, tool.Env) (tool.Execution, error) {
		t.Error("ran what nobody approved")
		return tool.Execution{}, nil
	}}
	a := b.run(t, p, policy.Ask)
	if a.Err == nil || a.Dispatched || !strings.Contains(a.Err.Error(), "no longer what was approved") || strings.Join(b.rows.said, " ") != "proposed decided" {
		t.Errorf("%+v, rows %v", a, b.rows.said)
	}
}
