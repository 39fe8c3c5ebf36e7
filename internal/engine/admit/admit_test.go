package admit_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"car/internal/engine/admit"
	"car/internal/engine/approval"
	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// hand is a tool that writes one path.
type hand struct{ name string }

func (h hand) Spec() tool.Spec {
	return tool.Spec{Name: h.name, Effect: tool.Write, Version: "1",
		Parameters: json.RawMessage(`{"type":"object","additionalProperties":false,"required":["path"],"properties":{"path":{"type":"string"}}}`)}
}

func (h hand) Effects(c tool.Call) (tool.Effects, error) {
	path, _ := c.Params["path"].(string)
	if path == "bad" {
		return tool.Effects{}, &tool.Fault{Kind: tool.BadArgs, Text: "path is bad"}
	}
	return tool.Effects{Declared: true, Writes: []string{path}}, nil
}

func (h hand) Run(context.Context, tool.Call, tool.Env) (tool.Execution, error) {
	return tool.Execution{}, nil
}

type hands []hand

func (h hands) Lookup(name string) (tool.Tool, bool) {
	for _, t := range h {
		if t.name == name {
			return t, true
		}
	}
	return nil, false
}

func (h hands) Schemas() []ir.ToolSchema {
	var out []ir.ToolSchema
	for _, t := range h {
		out = append(out, ir.ToolSchema{Name: t.name, Parameters: t.Spec().Parameters})
	}
	return out
}

// judge allows, asks or denies by the path.
type judge struct{}

func (judge) Judge(a ir.Action, _ tool.Effects) policy.Judgement {
	j := policy.Judgement{Verdict: policy.Allow, Tier: ir.SandboxEdit, Reversibility: ir.Reversible}
	switch a.Parameters["path"] {
	case "ask":
		j.Verdict = policy.Ask
		j.Reasons = []policy.Reason{{Verdict: policy.Ask, Text: "edits need a word", Rule: "posture"}}
	case "deny":
		j.Verdict = policy.Deny
		j.Violations = []policy.Violation{{PolicyName: "deny_keyword:x", Reason: "a keyword is denied"}, {PolicyName: "deny_tool:y", Reason: "the tool is denied"}}
	}
	return j
}

func (judge) Take(ir.Action) []policy.Violation { return nil }

func (judge) CheckState(ir.Action, func(string) (any, bool)) []policy.Violation { return nil }

// book is a log and recorder in memory that can refuse.
type book struct {
	mu       sync.Mutex
	events   []eventlog.Event
	rows     []string
	standing approval.Verdict
	grants   []string
	refuse   string
}

func (b *book) Append(e eventlog.Event) (eventlog.Event, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
	return e, nil
}

func (b *book) row(what string) error {
	if b.refuse == what {
		return errors.New(what + " cannot be written")
	}
	b.rows = append(b.rows, what)
	return nil
}

func (b *book) Propose(context.Context, approval.Effect) error { return b.row("propose") }

func (b *book) Decide(_ context.Context, _ approval.EffectID, v approval.Verdict) error {
	if v.Approved {
		return b.row("approved")
	}
	return b.row("denied")
}

func (b *book) BeforeDispatch(context.Context, approval.Effect) error { return b.row("before") }

func (b *book) AfterDispatch(context.Context, approval.EffectID, approval.Outcome) error {
	return b.row("after")
}

func (b *book) Grants(context.Context, string) ([]string, error) {
	return b.grants, nil
}
func (b *book) Standing(context.Context, approval.EffectID) (approval.Verdict, bool, error) {
	return b.standing, b.standing.Approved, nil
}

// digits are a digest.
var digits = regexp.MustCompile(`[0-9a-f]{64}`)

// answer is an Approver that says the same to all.
type answer struct {
	decision admit.Decision
	asked    []admit.Request
	err      error
}

func (a *answer) Approve(_ context.Context, r []admit.Request) ([]admit.Decision, error) {
	a.asked = append(a.asked, r...)
	out := make([]admit.Decision, len(r))
	for i := range out {
		out[i] = a.decision
	}
	return out, a.err
}

// gate is a named opinion.
type gate struct {
	name  string
	check func(context.Context, admit.View) (admit.Opinion, error)
}

func (g gate) Name() string { return g.name }

func (g gate) Check(ctx context.Context, v admit.View) (admit.Opinion, error) { return g.check(ctx, v) }

func says(name string, o admit.Opinion) gate {
	return gate{name, func(context.Context, admit.View) (admit.Opinion, error) { return o, nil }}
}

func proposal(paths ...string) ir.Proposal {
	p := ir.Proposal{ID: "p", Source: "test", Timestamp: time.Unix(0, 0).UTC()}
	for i, path := range paths {
		p.Actions = append(p.Actions, ir.Action{ID: ir.ActionID("a" + string(rune('1'+i))), Type: ir.ToolCall, Tool: "write",
			Parameters: map[string]any{"path": path}, FailureBehavior: ir.Skip})
	}
	return p.Fill(ir.Defaults{NewID: func() string { return "x" }, Now: func() time.Time { return time.Unix(0, 0) }})
}

func office(t *testing.T, b *book, approver admit.Approver, gates ...admit.Gate) *admit.Admitter {
	t.Helper()
	a, err := admit.New(admit.Config{Tools: hands{{"write"}}, Judge: judge{}, Gates: gates, Approver: approver, Recorder: b, Log: b,
		Where: tool.Description{Root: "/r"}, Substrate: "local", GateTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func admitted(t *testing.T, a *admit.Admitter, p ir.Proposal, o admit.Options) (*admit.Admission, *admit.Rejection) {
	t.Helper()
	adm, whole, err := a.Admit(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return adm, whole
}

// E-PIPE-9: a ticket is worth one attempt at the office that issued it; a zero,
// spent or foreign one is worth nothing, and each retry draws its own.
func TestTickets(t *testing.T) {
	t.Parallel()
	a, other := office(t, &book{}, nil), office(t, &book{}, nil)
	adm, _ := admitted(t, a, proposal("x"), admit.Options{})
	ticket, err := adm.Draw(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Redeem(ticket); !errors.Is(err, admit.ErrForeignTicket) {
		t.Errorf("foreign: %v", err)
	}
	if _, err := a.Redeem(admit.Ticket{}); !errors.Is(err, admit.ErrNoTicket) {
		t.Errorf("zero: %v", err)
	}
	g, err := a.Redeem(ticket)
	if err != nil || g.Row == nil || g.AllowedBy != "auto:sandbox_edit" || g.Attempt != 1 {
		t.Errorf("grant %+v, %v", g, err)
	}
	if _, err := a.Redeem(ticket); !errors.Is(err, admit.ErrSpentTicket) {
		t.Errorf("spent: %v", err)
	}
	again, err := adm.Draw(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	g2, err := a.Redeem(again)
	if err != nil || g2.Row.ID == g.Row.ID {
		t.Errorf("a retry must be an effect of its own: %v, %v", g2.Row, err)
	}
}

// Law 3, E-EXEC-2: what schema or policy refuses is refused with every reason, and nobody is asked.
func TestRefusedIsNotAsked(t *testing.T) {
	t.Parallel()
	b, person := &book{}, &answer{decision: admit.Decision{Kind: admit.AllowOnce}}
	a := office(t, b, person)
	p := proposal("deny", "bad", "x")
	p.Actions[2].Parameters = map[string]any{"pth": 1.0}
	p.Actions = append(p.Actions, ir.Action{ID: "a4", Type: ir.ToolCall, Tool: "nope", Parameters: map[string]any{}}, ir.Action{ID: "a5", Type: ir.StateRead, Parameters: map[string]any{}})
	adm, whole := admitted(t, a, p, admit.Options{})
	if whole != nil {
		t.Fatal(whole)
	}
	for i, want := range []string{
		"denied by policy: policy 'deny_keyword:x': a keyword is denied; policy 'deny_tool:y': the tool is denied",
		"path is bad",
		"missing required parameter 'path'; unknown parameter 'pth'",
		"unknown tool: nope",
		"state_read requires 'key' parameter",
	} {
		if r := adm.Rejected(i); r == nil || r.Reason != want {
			t.Errorf("action %d: %+v, want %q", i, r, want)
		}
		if _, err := adm.Draw(i, 1); err == nil {
			t.Errorf("action %d got a ticket", i)
		}
	}
	if _, err := adm.Ask(t.Context(), []int{0, 1, 2, 3, 4}); err != nil || len(person.asked) != 0 || len(b.rows) != 0 {
		t.Errorf("asked %d, rows %v, err %v", len(person.asked), b.rows, err)
	}
}

// E-PIPE-1: ids, retry counts and the graph refuse the whole proposal.
func TestRefusedWhole(t *testing.T) {
	t.Parallel()
	double, overflow, cycle, nan := proposal("x", "y"), proposal("x"), proposal("x"), proposal("x")
	double.Actions[1].ID = "a1"
	overflow.Actions[0].FailureBehavior, overflow.Actions[0].MaxRetries = ir.Retry, ^uint32(0)
	cycle.Actions[0].After = []ir.ActionID{"a1"}
	nan.Actions[0].Parameters["path"] = float64(1<<53) * 4
	nan.Actions[0].Parameters["n"] = make(chan int)
	for want, p := range map[string]ir.Proposal{
		"duplicate action id 'a1'":                      double,
		"action 'a1' retry attempt count overflows u32": overflow,
		"dependency cycle: a1 -> a1":                    cycle,
		"canonical JSON":                                nan,
	} {
		if _, whole := admitted(t, office(t, &book{}, nil), p, admit.Options{}); whole == nil || !strings.Contains(whole.Reason, want) {
			t.Errorf("%+v, want %q", whole, want)
		}
	}
}

// E-PIPE-3, G-GATE-1, P-GUARD-1: all gates run and are logged; error, panic,
// silence and nonsense reject; under RefuseAction only what is named.
func TestGatesFailClosed(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]gate{
		"gate did not answer: broken": {"g", func(context.Context, admit.View) (admit.Opinion, error) {
			return admit.Opinion{Verdict: policy.Allow}, errors.New("broken")
		}},
		"gate panicked: boom":             {"g", func(context.Context, admit.View) (admit.Opinion, error) { panic("boom") }},
		"gate did not answer within 50ms": {"g", func(ctx context.Context, _ admit.View) (admit.Opinion, error) { select {} }},
		"gate gave no reason":             says("g", admit.Opinion{}),
		"gate asked without a question":   says("g", admit.Opinion{Verdict: policy.Ask}),
		"no":                              says("g", admit.Opinion{Verdict: policy.Deny, Reason: "no"}),
	} {
		b := &book{}
		_, whole := admitted(t, office(t, b, nil, g, says("later", admit.Opinion{Verdict: policy.Allow})), proposal("x"), admit.Options{})
		if whole == nil || whole.Reason != name+" (gate: g)" {
			t.Errorf("%s: %+v", name, whole)
		}
		if len(b.events) != 3 || b.events[0].Data["gate"] != "permission_tiers" || b.events[1].Data["decision"] != "reject" || b.events[2].Data["decision"] != "allow" {
			t.Errorf("%s: logged %+v", name, b.events)
		}
	}
	one := says("g", admit.Opinion{Verdict: policy.Deny, Reason: "not a2", Blocked: []ir.ActionID{"a2"}})
	adm, whole := admitted(t, office(t, &book{}, nil, one), proposal("x", "y"), admit.Options{RefuseAction: true})
	if whole != nil || adm.Rejected(0) != nil || adm.Rejected(1) == nil {
		t.Errorf("in a conversation a gate refuses what it names: %+v %+v %+v", whole, adm.Rejected(0), adm.Rejected(1))
	}
	adm, whole = admitted(t, office(t, &book{}, nil, one), proposal("x", "y"), admit.Options{})
	if whole == nil || adm.Rejected(0).Reason != "proposal blocked by admission gate: g" {
		t.Errorf("in `car run` it refuses all: %+v", whole)
	}
}

// scopeOfAsk is the fingerprint of the call that asks, as its refusal names it.
func scopeOfAsk(t *testing.T) string {
	t.Helper()
	adm, _ := admitted(t, office(t, &book{}, nil), proposal("ask"), admit.Options{})
	if _, err := adm.Ask(t.Context(), []int{0}); err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(adm.Rejected(0).Reason, "approve fingerprint '")
	return after[:64]
}

// E-PIPE-7, A-APPR-7, G-APPR-2: a question is a row before it is put, an answer a
// row before it is used; whatever cannot be written, is late, short or unknown denies.
func TestQuestions(t *testing.T) {
	t.Parallel()
	allow := admit.Decision{Kind: admit.AllowOnce, By: "user"}
	for _, c := range []struct {
		name     string
		book     *book
		approver admit.Approver
		rows     string
		refused  string
	}{
		{"yes", &book{}, &answer{decision: allow}, "propose approved", ""},
		{"for the session", &book{}, &answer{decision: admit.Decision{Kind: admit.AllowSession, By: "user"}}, "propose approved", ""},
		{"granted before", &book{grants: []string{"scope:" + scopeOfAsk(t)}}, nil, "", ""},
		// A-APPR-8: what a person approved before a restart is not asked twice.
		{"approved before a restart", &book{standing: approval.Verdict{Approved: true, By: "user", Gates: []string{"policy"}}}, nil, "", ""},
		{"approved before a restart, of another gate", &book{standing: approval.Verdict{Approved: true, By: "user", Gates: []string{"intent"}}}, nil, "",
			"what was approved before the restart raises a new question (gate: policy; edits need a word (rule posture)); call it again, and it is asked"},
		{"bare no", &book{}, &answer{}, "propose denied", "declined by user"},
		{"no with words", &book{}, &answer{decision: admit.Decision{Reason: "use make"}}, "propose denied", "use make"},
		{"nobody", &book{}, nil, "propose denied", "requires human approval (gate: policy; edits need a word (rule posture)); approve fingerprint '#' then re-run"},
		{"approver errs", &book{}, &answer{decision: allow, err: errors.New("gone")}, "propose denied", "approval did not answer: gone"},
		{"question cannot be written", &book{refuse: "propose"}, &answer{decision: allow}, "", "propose cannot be written"},
		{"answer cannot be written", &book{refuse: "approved"}, &answer{decision: allow}, "propose", "approved cannot be written"},
	} {
		a := office(t, c.book, c.approver)
		adm, _ := admitted(t, a, proposal("ask"), admit.Options{})
		if _, err := adm.Draw(0, 1); err == nil {
			t.Errorf("%s: a ticket before the answer", c.name)
		}
		if _, err := adm.Ask(t.Context(), []int{0}); err != nil {
			t.Fatal(err)
		}
		got := ""
		if r := adm.Rejected(0); r != nil {
			got = digits.ReplaceAllString(r.Reason, "#")
		}
		if got != c.refused || strings.Join(c.book.rows, " ") != c.rows {
			t.Errorf("%s: refused %q, rows %q", c.name, got, c.book.rows)
		}
		if _, err := adm.Draw(0, 1); (err == nil) != (c.refused == "") {
			t.Errorf("%s: draw: %v", c.name, err)
		}
	}
}

// Law 4: an approved action that is not idempotent gets one attempt.
func TestApprovedOnce(t *testing.T) {
	t.Parallel()
	a := office(t, &book{}, &answer{decision: admit.Decision{Kind: admit.AllowOnce}})
	p := proposal("ask")
	p.Actions[0].FailureBehavior, p.Actions[0].MaxRetries = ir.Retry, 3
	adm, _ := admitted(t, a, p, admit.Options{})
	if adm.Attempts(0) != 4 {
		t.Errorf("before the question: %d attempts", adm.Attempts(0))
	}
	if _, err := adm.Ask(t.Context(), []int{0}); err != nil {
		t.Fatal(err)
	}
	if _, err := adm.Draw(0, 2); err == nil || adm.Attempts(0) != 1 {
		t.Errorf("a second attempt on one yes: %v, %d", err, adm.Attempts(0))
	}
}

// A-APPR-11: deny and stop ends the proposal; an edit is handed back, not run.
func TestStopAndEdit(t *testing.T) {
	t.Parallel()
	a := office(t, &book{}, &answer{decision: admit.Decision{Kind: admit.DenyAndStop, Reason: "enough"}})
	adm, _ := admitted(t, a, proposal("ask"), admit.Options{})
	asked, err := adm.Ask(t.Context(), []int{0})
	if err != nil || !asked.Stop || asked.Reason != "enough" || adm.Rejected(0) == nil {
		t.Errorf("stop: %+v %v", asked, err)
	}
	a = office(t, &book{}, &answer{decision: admit.Decision{Kind: admit.Edit, Parameters: map[string]any{"path": "y"}}})
	adm, _ = admitted(t, a, proposal("ask"), admit.Options{})
	asked, err = adm.Ask(t.Context(), []int{0})
	if err != nil || asked.Edits[0]["path"] != "y" {
		t.Errorf("edit: %+v %v", asked, err)
	}
	if _, err := adm.Draw(0, 1); err == nil {
		t.Error("the unedited action got a ticket")
	}
}

// E-PIPE-8, E-EXEC-2: capabilities by tool and state key; a denial wins.
func TestCapabilities(t *testing.T) {
	t.Parallel()
	p := proposal("x")
	p.Actions = append(p.Actions, ir.Action{ID: "s", Type: ir.StateRead, Parameters: map[string]any{"key": "k"}})
	for _, c := range []struct {
		caps admit.Capabilities
		i    int
		want string
	}{
		{admit.Capabilities{DeniedTools: []string{"write"}, AllowedTools: []string{"write"}}, 0, "capability denied: tool 'write' not allowed"},
		{admit.Capabilities{AllowedTools: []string{"read"}}, 0, "capability denied: tool 'write' not allowed"},
		{admit.Capabilities{AllowedStateKeys: []string{"other"}}, 1, "capability denied: state key 'k' not allowed"},
	} {
		adm, _ := admitted(t, office(t, &book{}, nil), p, admit.Options{Capabilities: c.caps})
		if r := adm.Rejected(c.i); r == nil || r.Reason != c.want || r.Stage != admit.StageCapability {
			t.Errorf("%+v: %+v", c.caps, r)
		}
	}
}

// words is a Ledger in memory.
type words map[string]approval.Decision

func (w words) Decision(_ context.Context, fingerprint string) (approval.Decision, bool, error) {
	d, ok := w[fingerprint]
	if fingerprint == "unreadable" {
		return d, false, errors.New("disk")
	}
	return d, ok, nil
}

// E-PIPE-5: every escalation needs its own approval; an approval lifts no other
// gate's reject and none of a lower tier counts; a rejection is final; a ledger
// that cannot be read leaves the question open; what was applied is logged.
func TestDecisionsByFingerprint(t *testing.T) {
	t.Parallel()
	asks := func(name string, fingerprints ...string) gate {
		o := admit.Opinion{Verdict: policy.Ask}
		for _, f := range fingerprints {
			o.Escalations = append(o.Escalations, admit.Escalation{Fingerprint: f, Reason: "is it so"})
		}
		return says(name, o)
	}
	yes := approval.Decision{Approved: true, RequiredTier: ir.FullAccess, Reviewer: "r"}
	ledger := words{"f1": yes, "no": {Fingerprint: "no", Reviewer: "r"}, "low": {Approved: true, RequiredTier: ir.SandboxEdit, Reviewer: "r"}}
	ledger["f1"] = approval.Decision{Fingerprint: "f1", Approved: true, RequiredTier: ir.FullAccess, Reviewer: "r"}
	for _, c := range []struct {
		name    string
		gates   []admit.Gate
		refused string
	}{
		{"approved", []admit.Gate{asks("g", "f1")}, ""},
		{"one of two", []admit.Gate{asks("g", "f1", "f2")}, "requires human approval (gate: g; is it so); approve fingerprint 'f2' then re-run"},
		{"rejected", []admit.Gate{asks("g", "no")}, "rejected by operator (gate: g; fingerprint: no)"},
		{"too low", []admit.Gate{asks("g", "low")}, "requires human approval (gate: g; is it so); approve fingerprint 'low' then re-run"},
		{"unreadable", []admit.Gate{asks("g", "unreadable")}, "requires human approval (gate: g; is it so); approve fingerprint 'unreadable' then re-run"},
		{"another gate rejects", []admit.Gate{asks("g", "f1"), says("h", admit.Opinion{Verdict: policy.Deny, Reason: "never"})}, "never (gate: h)"},
	} {
		b := &book{}
		a, err := admit.New(admit.Config{Tools: hands{{"write"}}, Judge: judge{}, Gates: c.gates, Recorder: b, Log: b, Ledger: ledger, Where: tool.Description{Root: "/r"}})
		if err != nil {
			t.Fatal(err)
		}
		adm, _ := admitted(t, a, proposal("x"), admit.Options{RefuseAction: true})
		if _, err := adm.Ask(t.Context(), []int{0}); err != nil {
			t.Fatal(err)
		}
		got := ""
		if r := adm.Rejected(0); r != nil {
			got = r.Reason
		}
		if got != c.refused {
			t.Errorf("%s: %q, want %q", c.name, got, c.refused)
		}
		if c.name == "approved" && b.events[len(b.events)-1].Data["applied"] != true && b.events[0].Data["applied"] != true {
			t.Errorf("applied approval is not logged: %+v", b.events)
		}
	}
}
