package assistant

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"car/internal/engine"
	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/redact"
	"car/internal/engine/state"
	"car/internal/engine/tool"
	"car/internal/tools/editfile"
	"car/internal/tools/readfile"
	"car/internal/tools/shell"
	"car/internal/tools/substrate"
	"car/internal/tools/writefile"
)

// bench is a house with the real engine: real tools on real files and processes,
// real rows and a real log; only the model is played and the policy is a test's.
type bench struct {
	*house
	root string
	log  *eventlog.Log
}

// allTools finds the bound tools by name.
type allTools map[string]tool.Tool

func (a allTools) Lookup(name string) (tool.Tool, bool) { t, ok := a[name]; return t, ok }

func (a allTools) Schemas() []ir.ToolSchema {
	var all []ir.ToolSchema
	for _, t := range a {
		s := t.Spec()
		all = append(all, ir.ToolSchema{Name: s.Name, Description: s.Description, Parameters: s.Parameters})
	}
	return all
}

// rules is a policy of a test: writes below closed/ are denied, pushes are asked.
type rules struct{}

func (rules) Judge(a ir.Action, e tool.Effects) policy.Judgement {
	j := policy.Judgement{Verdict: policy.Allow, Tier: ir.SandboxEdit, Reversibility: ir.Reversible}
	if e.OnlyReads() {
		j.Tier = ir.ReadOnly
	}
	for _, w := range e.Writes {
		if strings.HasPrefix(w, "closed/") {
			j.Verdict, j.Reasons = policy.Deny, []policy.Reason{{Text: "closed/ is closed", Rule: "test"}}
		}
	}
	if strings.Contains(e.Shell.Text, "push") {
		j.Verdict, j.Tier, j.Reversibility, j.Reasons = policy.Ask, ir.FullAccess, ir.Irreversible, []policy.Reason{{Text: "it publishes"}}
	}
	return j
}

func (rules) Take(ir.Action) []policy.Violation                                 { return nil }
func (rules) CheckState(ir.Action, func(string) (any, bool)) []policy.Violation { return nil }

func newBench(t *testing.T, script ...said) *bench {
	t.Helper()
	b := &bench{house: newHouse(t, script...), root: t.TempDir()}
	b.opts.Root = b.root
	b.config.Open = func(_ context.Context, r OpenRequest) (Runtime, error) { return b.engine(r) }
	return b
}

func (b *bench) engine(r OpenRequest) (Runtime, error) {
	scratch, err := os.MkdirTemp("", "car-test-")
	if err != nil {
		return Runtime{}, err
	}
	where, err := substrate.Open(substrate.Config{Root: b.root, ScratchBase: scratch, UID: "1", Session: r.Session, Env: []string{"PATH=" + os.Getenv("PATH")}, Now: time.Now})
	if err != nil {
		return Runtime{}, err
	}
	if b.log, err = eventlog.Open(eventlog.Config{Now: time.Now}); err != nil {
		return Runtime{}, err
	}
	ledger, err := approval.New(approval.Config{Store: b.db, Now: time.Now})
	if err != nil {
		return Runtime{}, err
	}
	tools := allTools{}
	for _, make := range []func(tool.Bindings) tool.Tool{readfile.New, writefile.New, editfile.New, shell.New} {
		t := make(tool.Bindings{Describe: where.Describe()})
		tools[t.Spec().Name] = t
	}
	rt, err := engine.New(engine.Config{Tools: tools, Judge: rules{}, Approver: r.Approver, Recorder: ledger, Log: b.log, State: state.New(),
		Substrate: where, Redactor: redact.New(nil), CarHome: filepath.Join(scratch, "home"), Now: time.Now})
	if err != nil {
		return Runtime{}, err
	}
	out := Runtime{Engine: rt, Files: os.DirFS(b.root), Effects: b.db.EffectsOf, Log: b.log, Close: func(ctx context.Context) error {
		err := rt.Close(ctx)
		return firstOf(err, where.Close(), os.RemoveAll(scratch))
	}}
	for _, s := range tools.Schemas() {
		out.Tools = append(out.Tools, Tool{Schema: s, ReadOnly: tools[s.Name].Spec().Effect == tool.Read})
	}
	return out, nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) file(name, content string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.root, name), []byte(content), 0o755); err != nil {
		b.t.Fatal(err)
	}
}

// A-LOOP-1, A-LOOP-3, D-2, A-APPR-1, A-APPR-15: one turn through the real engine:
// files are read and edited, a denied write is refused alone, a push is asked, and
// every effect has its rows.
func TestTurnThroughTheRealEngine(t *testing.T) {
	t.Parallel()
	b := newBench(t,
		callsTools("read_file", `{"path":"a.txt"}`, "read_file", `{"path":"b.txt"}`),
		callsTools("edit_file", `{"path":"a.txt","old_text":"one","new_text":"ONE"}`, "write_file", `{"path":"closed/x","content":"no"}`, "read_file", `{"path":"a.txt"}`),
		callsTools("shell", `{"command":"echo push"}`),
		says("I updated `a.txt`."))
	b.file("a.txt", "one\n")
	b.file("b.txt", "two\n")
	c, f := b.start()
	if err := c.Send(t.Context(), Input{Text: "edit"}); err != nil {
		t.Fatal(err)
	}
	p := f.of(KindApprovalPending).Body.(ApprovalPending)
	if p.Params["command"] != "echo push" || p.CallID != "t1c6" || !strings.HasPrefix(p.ActionID, "act_") || p.Scope["tool"] != "shell" {
		t.Errorf("the question is %+v", p)
	}
	c.Resolve(p.ApprovalID, Answer{Kind: AnswerOnce})
	events := f.end()
	if done := mustEnd[Done](t, events); done.Text != "I updated `a.txt`." {
		t.Errorf("done says %q", done.Text)
	}
	if got, _ := os.ReadFile(filepath.Join(b.root, "a.txt")); string(got) != "ONE\n" {
		t.Errorf("a.txt is %q", got)
	}
	results := bodies[ToolResult](events)
	var oks []bool
	for _, r := range results {
		oks = append(oks, r.OK)
	}
	if !slices.Equal(oks, []bool{true, true, true, false, true, true}) {
		t.Errorf("results %v: %+v", oks, results)
	}
	if !strings.Contains(results[3].Excerpt, "closed/ is closed") || results[2].Evidence["allowed_by"] == nil {
		t.Errorf("the refusal is %s, the edit %v", results[3].Excerpt, results[2].Evidence)
	}
	if calls := bodies[ToolCall](events); calls[0].Tier != ir.ReadOnly || calls[2].Tier != ir.SandboxEdit || calls[5].Tier != ir.FullAccess {
		t.Errorf("calls %+v", calls)
	}
	if texts := resultTexts(b.house); !strings.Contains(texts[4], "ONE") || !strings.Contains(texts[3], "[REJECTED]") {
		t.Errorf("the model read %q", texts)
	}
	effects, err := b.db.EffectsOf(t.Context(), "s1", "")
	if err != nil || len(effects) != 2 || effects[0].State != approval.Completed || effects[1].CallID != "t1c6" || effects[1].State != approval.Completed {
		t.Errorf("effects %+v, %v", effects, err)
	}
	if o := c.Outcome(); ExitCode(o) != ExitRefused || len(o.Refused) != 1 {
		t.Errorf("outcome %+v", o)
	}
	report := bodies[ReceiptReport](events)[0]
	if report.Completion["files_changed"] != "1: a.txt" {
		t.Errorf("the report is %+v", report)
	}
}

// D-2, E-FAIL-6: behind a call that could not be read, edits go on and a push is skipped.
func TestNothingIrreversibleBehindALostCall(t *testing.T) {
	t.Parallel()
	b := newBench(t, callsTools("read_file", `{"path":`, "write_file", `{"path":"a.txt","content":"x"}`, "shell", `{"command":"echo push"}`), says("ok"))
	events := b.say(Input{Text: "go"})
	texts := resultTexts(b.house)
	if !strings.HasPrefix(texts[0], "[REJECTED]") || strings.HasPrefix(texts[1], "[") || texts[2] != "[Skipped] an earlier call of this step did not succeed" {
		t.Errorf("the model read %q", texts)
	}
	if len(bodies[ApprovalPending](events)) != 0 {
		t.Error("somebody was asked about a call that would not run")
	}
}

// A-SVC-8, B005 with real processes: a cancel kills what runs, and every call has
// its one result.
func TestCancelKillsARealProcess(t *testing.T) {
	t.Parallel()
	b := newBench(t, callsTools("shell", `{"command":"echo $$ > pid; echo begun; sleep 60"}`, "write_file", `{"path":"late","content":"x"}`), says("On."))
	c, f := b.start()
	if err := c.Send(t.Context(), Input{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	f.of(KindToolProgress)
	start := time.Now()
	c.Cancel()
	events := f.end()
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("the cancel took %s", took)
	}
	if end := mustEnd[Failure](t, events); end.Code != CodeCanceled {
		t.Errorf("ended with %+v", end)
	}
	if err := c.Send(t.Context(), Input{Text: "carry on"}); err != nil {
		t.Fatal(err)
	}
	mustEnd[Done](t, f.end())
	texts := resultTexts(b.house)
	if len(texts) != 2 || !strings.Contains(texts[0], "cancel") || !strings.Contains(texts[1], "cancel") {
		t.Errorf("the model read %q", texts)
	}
	if _, err := os.Stat(filepath.Join(b.root, "late")); err == nil {
		t.Error("the second call ran")
	}
}

// A-GOAL-2, B045 through the real engine: the check runs as often as iterations
// need it, an honest fix reaches the goal, a changed check does not.
func TestGoalThroughTheRealEngine(t *testing.T) {
	t.Parallel()
	b := newBench(t, callsTools("write_file", `{"path":"x","content":"1"}`), says("One file."), callsTools("write_file", `{"path":"y","content":"1"}`), says("Two files."))
	b.file("check.sh", "#!/bin/sh\ntest -f x && test -f y || { echo missing; exit 1; }\n")
	events := b.say(Input{Text: "make it pass", Goal: &Goal{Check: "./check.sh", Typed: true}})
	if done := mustEnd[Done](t, events); done.Text != "Two files." {
		t.Errorf("done says %q", done.Text)
	}
	if v := bodies[GoalEvaluated](events); len(v) != 2 || v[0].Met || !v[1].Met {
		t.Errorf("verdicts %+v", v)
	}

	b = newBench(t, callsTools("shell", `{"command":"printf '#!/bin/sh\\nexit 0\\n' > check.sh"}`), says("It passes."))
	b.file("check.sh", "#!/bin/sh\nexit 1\n")
	end := mustEnd[Failure](t, b.say(Input{Text: "make it pass", Goal: &Goal{Check: "./check.sh", Typed: true}}))
	if end.Code != CodeCheckAltered || !strings.Contains(end.Text, "-exit 1\n+exit 0\n") {
		t.Errorf("ended with %+v", end)
	}

	b = newBench(t, callsTools("shell", `{"command":"export PASS=1"}`), says("It passes."), says("Really."), says("Yes."))
	b.file("check.sh", "#!/bin/sh\ntest -n \"$PASS\"\n")
	end = mustEnd[Failure](t, b.say(Input{Text: "make it pass", Goal: &Goal{Check: "./check.sh", Typed: true, MaxIterations: 3}}))
	if end.Code != CodeGoalNotReached {
		t.Errorf("a variable of a call reached the check: %+v", end)
	}
}
