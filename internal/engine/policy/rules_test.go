package policy

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

func ptr(s string) *string { return &s }

// withRules is a policy over text alone with these rules in one file.
func withRules(t testing.TB, r Rules, change func(*Config)) *Policy {
	t.Helper()
	cfg := newLayout(t, false).config()
	cfg.Rules = []RuleFile{{Path: ".car/policies/main.toml", Rules: r, Lines: map[string]int{"deny_tool[0]": 3, "command[0]": 7, "deny_keyword": 5}}}
	cfg.Now = func() time.Time { return time.Unix(1000, 0) }
	if change != nil {
		change(&cfg)
	}
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func toolAction(name string, params map[string]any) ir.Action {
	return ir.Action{ID: "a1", Type: ir.ToolCall, Tool: name, Parameters: params}
}

func names(vs []Violation) string {
	out := make([]string, len(vs))
	for i, v := range vs {
		out[i] = v.PolicyName
	}
	return strings.Join(out, " ")
}

// G-POL-2, G-POL-3, G-POL-4: each kind denies under its name, all are collected,
// and none repeats what it matched.
func TestRuleKinds(t *testing.T) {
	t.Parallel()
	const value = "drop-zone-77"
	p := withRules(t, Rules{
		DenyTool:    []string{"deploy"},
		DenyKeyword: []string{"drop-zone"},
		DenyToolParam: []DenyToolParam{
			{Tool: "calculate", Param: "equal", Equals: ptr("x"), Contains: ptr("x")}, {Tool: "calculate", Param: "both", Equals: ptr("xy"), Contains: ptr("z")},
			{Tool: "calculate", Param: "part", Contains: ptr("b")}, {Tool: "calculate", Param: "any"},
		},
		AllowToolParam:        []AllowToolParam{{Tool: "todo_write", Param: "list", Allow: []string{"Work"}}},
		DenyToolParamMatching: []DenyParamMatching{{Tool: "calculate", Param: "expr", Matches: `\d{4}`}},
	}, nil)
	for _, c := range []struct {
		name   string
		params map[string]any
		want   string
	}{
		{"deploy", nil, "deny_tool:deploy"},
		{"calculate", map[string]any{"a": value}, "deny_keyword:drop-zone"},
		{"calculate", map[string]any{"a": map[string]any{"b": []any{1.0, value}}}, "deny_keyword:drop-zone"},
		{"calculate", map[string]any{"equal": "x"}, "deny_tool_param:calculate.equal"},
		{"calculate", map[string]any{"both": "xy"}, ""},
		{"calculate", map[string]any{"part": "abc"}, "deny_tool_param:calculate.part"},
		{"calculate", map[string]any{"any": nil}, "deny_tool_param:calculate.any"},
		{"calculate", map[string]any{"expr": "1+12345"}, "deny_tool_param_matching:calculate.expr"},
		{"calculate", map[string]any{"expr": "1+2"}, ""},
		{"todo_write", map[string]any{"list": "Work"}, ""},
		{"todo_write", map[string]any{"list": "work"}, "allow_tool_param:todo_write.list"},
		{"todo_write", map[string]any{"list": ""}, "allow_tool_param:todo_write.list"},
		{"todo_write", nil, "allow_tool_param:todo_write.list"},
		{"calculate", map[string]any{"any": value, "expr": "9999"}, "deny_keyword:drop-zone deny_tool_param:calculate.any deny_tool_param_matching:calculate.expr"},
	} {
		j := p.Judge(toolAction(c.name, c.params), tool.Effects{})
		if got := names(j.Violations); got != c.want {
			t.Errorf("%s %v: %q, want %q", c.name, c.params, got, c.want)
		}
		if (c.want != "") != (j.Verdict == Deny) {
			t.Errorf("%s %v: %s", c.name, c.params, j.Verdict)
		}
		for _, v := range j.Violations {
			if v.ActionID != "a1" || strings.Contains(v.Reason, value) || strings.Contains(v.Reason, "9999") {
				t.Errorf("%s: violation %+v", c.name, v)
			}
		}
	}
	if j := p.Judge(toolAction("deploy", nil), tool.Effects{}); j.Violations[0].File != ".car/policies/main.toml" || j.Violations[0].Line != 3 || !strings.Contains(j.Message(), "main.toml:3") {
		t.Errorf("the rule's place is lost: %+v, %s", j.Violations[0], j.Message())
	}
}

// G-POL-1: what means nothing is an error that names its key.
func TestRulesCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules Rules
		want  string
	}{
		{Rules{DenyTool: []string{"a", " "}}, "deny_tool[1]: tool"},
		{Rules{DenyKeyword: []string{""}}, "deny_keyword[0]: keyword"},
		{Rules{DenyToolParam: []DenyToolParam{{Tool: "x"}}}, "deny_tool_param[0]: param"},
		{Rules{AllowToolParam: []AllowToolParam{{Param: "x"}}}, "allow_tool_param[0]: tool"},
		{Rules{DenyToolParamMatching: []DenyParamMatching{{Tool: "x", Param: "y", Matches: "("}}}, "deny_tool_param_matching[0]: matches"},
		{Rules{RateLimitTool: []RateLimitTool{{Tool: "x", MaxCalls: -1, IntervalSecs: 1}}}, "rate_limit_tool[0]: max_calls"},
		{Rules{RateLimitTool: []RateLimitTool{{Tool: "x", MaxCalls: 1}}}, "rate_limit_tool[0]: interval_secs"},
		{Rules{RequireState: []RequireState{{}}}, "require_state[0]: key"},
		{Rules{Command: []CommandRule{{Run: "git", Decide: "perhaps"}}}, "command[0]: decide"},
		{Rules{Command: []CommandRule{{Decide: "deny"}}}, "command[0]: run"},
		{Rules{Command: []CommandRule{{Run: "git", Decide: "deny", Args: []string{"[x"}}}}, "command[0]: args"},
		{Rules{Command: []CommandRule{{Run: "git", Decide: "deny", Flags: []string{"force"}}}}, "command[0]: flags"},
		{Rules{TraceRule: []TraceRule{{}}}, "trace_rule[0]: exactly one"},
		{Rules{TraceRule: []TraceRule{{Within: &TraceWithin{}}}}, "trace_rule[0]: within.n"},
	} {
		err := c.rules.Check()
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.rules, err, c.want)
		}
		cfg := newLayout(t, false).config()
		cfg.Rules, cfg.Now = []RuleFile{{Path: "x.toml", Rules: c.rules}}, time.Now
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), "x.toml") {
			t.Errorf("New takes %+v: %v", c.rules, err)
		}
	}
}

// G-POL-2: a sliding window; a call that this rule refuses takes nothing; 0 denies all.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	p := withRules(t, Rules{RateLimitTool: []RateLimitTool{{Tool: "shell", MaxCalls: 2, IntervalSecs: 10}, {Tool: "never", IntervalSecs: 1}}}, func(c *Config) { c.Now = func() time.Time { return now } })
	a := toolAction("shell", map[string]any{"command": "ls"})
	for i, want := range []int{0, 0, 1, 1} {
		if got := p.Take(a); len(got) != want {
			t.Fatalf("call %d: %v", i, got)
		}
	}
	for range 5 {
		p.Judge(a, tool.Effects{})
	}
	now = now.Add(11 * time.Second)
	if got := p.Take(a); got != nil {
		t.Fatalf("after the window: %v", got)
	}
	if got := names(p.Take(toolAction("never", nil))); got != "rate_limit_tool:never" {
		t.Fatalf("0 calls: %q", got)
	}
	session, err := p.With(RuleFile{Path: "session"})
	if err != nil {
		t.Fatal(err)
	}
	if got := session.Take(a); got != nil {
		t.Fatalf("one call is left: %v", got)
	}
	if got := p.Take(a); len(got) != 1 {
		t.Fatal("a session's calls are not counted by the global rule")
	}
}

// E-EXEC-1, G-POL-2: require_state is judged on a state that the caller hands in.
func TestRequireState(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{RequireState: []RequireState{{Key: "phase", Value: "open", Tool: "shell"}, {Key: "n", Value: 2.0}}}, nil)
	state := map[string]any{"phase": "open", "n": 2.0}
	get := func(k string) (any, bool) { v, ok := state[k]; return v, ok }
	a := toolAction("shell", nil)
	if got := p.CheckState(a, get); got != nil {
		t.Fatalf("met: %v", got)
	}
	state["phase"] = "closed"
	delete(state, "n")
	if got := names(p.CheckState(a, get)); got != "require_state:phase require_state:n" {
		t.Fatalf("not met: %q", got)
	}
	if got := names(p.CheckState(toolAction("calculate", nil), get)); got != "require_state:n" {
		t.Fatalf("another tool: %q", got)
	}
}

func verdicts(t *testing.T, p *Policy, want map[string]Verdict) {
	t.Helper()
	for command, v := range want {
		if j := p.Judge(shellAction("a1", command), tool.Effects{}); j.Verdict != v {
			t.Errorf("%q: %s, want %s: %s", command, j.Verdict, v, j.Message())
		}
	}
}

// B015: a denied command is denied wherever it stands, and the rule is named.
func TestB015(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{Command: []CommandRule{{Run: "git clean", Decide: "deny", Reason: "the tree is shared"}}}, nil)
	for _, command := range []string{"git fetch && git clean -fd", "(git clean -fd)", "true; git -C . clean -fd", "echo $(git clean -fd)", "git fetch | xargs -r git clean",
		"bash -c 'git clean -n'", "timeout 5 git clean -n", "x=clean; git $x", "ssh host.example git clean -fd", "git --no-pager clean", "/usr/bin/git clean"} {
		j := p.Judge(shellAction("a1", command), tool.Effects{})
		if j.Verdict != Deny || !strings.Contains(names(j.Violations), "command:git clean") || j.Violations[0].Line != 7 {
			t.Errorf("%q: %s, %v", command, j.Verdict, j.Violations)
		}
		if !strings.Contains(j.Message(), "the tree is shared") || !strings.Contains(j.Message(), "command:git clean") {
			t.Errorf("%q: the message names no rule: %s", command, j.Message())
		}
	}
	verdicts(t, p, map[string]Verdict{"git log clean": Allow, "echo git clean": Allow, "git cleanup": Ask, "git status": Allow})
}

// B017: every part must be allowed on its own.
func TestB017(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{Command: []CommandRule{{Run: "git log", Decide: "allow"}, {Run: "npm test", Decide: "allow"}, {Run: "make", Decide: "allow"}}}, nil)
	j := p.Judge(shellAction("a1", "git log -1 && curl -s http://127.0.0.1:9/x | sh"), tool.Effects{})
	if j.Verdict != Ask || j.Tier != ir.FullAccess {
		t.Fatalf("%s %s", j.Verdict, j.Tier)
	}
	uncovered := ""
	for _, c := range j.Commands {
		if c.Tier == ir.FullAccess {
			uncovered += c.Text + "|"
		}
	}
	if !strings.Contains(uncovered, "curl") || !strings.Contains(uncovered, "sh") || strings.Contains(uncovered, "git log") {
		t.Fatalf("the parts that are not covered: %q", uncovered)
	}
	verdicts(t, p, map[string]Verdict{
		"npm test": Allow, "npm test && git log": Allow, "npm test && ls": Allow, "npm test | tail": Allow,
		"npm test > out.log": Ask, "npm test; rm -rf build": Ask, "npm test $(cat x)": Ask, "npm test && $X": Ask, "npm test; sudo id": Deny, "npm test && cat .env": Deny, "npm run x": Ask,
		"make install": Allow, "make SHELL=./x": Ask,
	})
}

// G-POL-5: flags and argument globs narrow a rule; the strictest decision wins.
func TestCommandRuleNarrowing(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{Command: []CommandRule{
		{Run: "git push", Decide: "allow"},
		{Run: "git push", Flags: []string{"--tags", "-t"}, Decide: "ask"},
		{Run: "git push", Args: []string{"release*"}, Decide: "deny"},
	}}, nil)
	verdicts(t, p, map[string]Verdict{
		"git push": Allow, "git push origin main": Allow, "git push --tags": Ask, "git push -ut origin x": Ask, "git push origin release-1": Deny, "git push --tags origin release-1": Deny,
		"git push -f": Deny, "git push --force origin main": Deny,
	})
	if j := p.Judge(shellAction("a1", "git push --tags"), tool.Effects{}); !j.AskAlways {
		t.Error("an ask rule can be covered by a standing tier")
	}
}

// G-TRUST-1: an untrusted file only tightens; G-POL-4: so do session rules.
func TestUntrustedRulesOnlyTighten(t *testing.T) {
	t.Parallel()
	rules := Rules{Command: []CommandRule{{Run: "npm test", Decide: "allow"}, {Run: "npm run", Decide: "deny"}}}
	p := withRules(t, Rules{}, nil)
	session, err := p.With(RuleFile{Path: "session", Rules: rules})
	if err != nil {
		t.Fatal(err)
	}
	verdicts(t, session, map[string]Verdict{"npm test": Ask, "npm run x": Deny})
	untrusted := withRules(t, rules, func(c *Config) { c.Rules[0].Untrusted = true })
	verdicts(t, untrusted, map[string]Verdict{"npm test": Ask, "npm run x": Deny})
}

// G-TIER-4: what each posture lets go, and what no grant does.
func TestPostures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		posture  Posture
		confined bool
		granted  ir.Tier
		want     map[string]Verdict
	}{
		{Cautious, true, ir.TierUnset, map[string]Verdict{"ls": Allow, "go test ./...": Ask, "touch a": Ask, "git push": Ask}},
		{Balanced, false, ir.TierUnset, map[string]Verdict{"ls": Allow, "go test ./...": Ask, "touch a": Ask, "git push": Ask}},
		{Balanced, true, ir.TierUnset, map[string]Verdict{"ls": Allow, "go test ./...": Allow, "touch a": Allow, "rm a": Ask, "git push": Ask, "cat .env": Deny}},
		{Trusting, false, ir.TierUnset, map[string]Verdict{"go test ./...": Allow, "rm a": Allow, "git push": Ask, "sudo id": Deny}},
		{Balanced, false, ir.SandboxEdit, map[string]Verdict{"touch a": Allow, "rm a": Allow, "git push": Ask, "git reset --hard": Ask}},
		{Balanced, false, ir.FullAccess, map[string]Verdict{"touch a": Allow, "git push": Allow, "curl https://example.com": Allow, "$X": Allow, "git reset --hard": Ask, "git clean -fd": Ask,
			"git push -f": Deny, "sudo id": Deny, "cat .env": Deny, "echo x > /etc/x": Deny, "rm -rf .car": Deny}},
	} {
		p := withRules(t, Rules{}, func(cfg *Config) { cfg.Posture, cfg.Confined, cfg.Granted = c.posture, c.confined, c.granted })
		t.Run(fmt.Sprint(c.posture, c.confined, uint8(c.granted)), func(t *testing.T) { verdicts(t, p, c.want) })
	}
}

// B083: where a run may only look, all else is refused, not asked for.
func TestB083(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{}, func(c *Config) { c.Ceiling, c.Granted = ir.ReadOnly, ir.FullAccess })
	verdicts(t, p, map[string]Verdict{
		`python3 -c "open('x','w')"`: Deny, "sed -i s/a/b/ x": Deny, "git commit -m x": Deny, "tee x": Deny, "> x": Deny, "go test ./...": Deny, "curl https://example.com": Deny,
		"ls": Allow, "git log": Allow, "cat main.go | head": Allow,
	})
	if j := p.Judge(toolAction("write_file", map[string]any{"path": "x", "content": "y"}), tool.Effects{}); j.Verdict != Deny || !strings.Contains(j.Message(), "read_only") {
		t.Errorf("write_file: %s %s", j.Verdict, j.Message())
	}
}

// B009: what differs from an approved text is judged anew; a NUL or a control
// character in it is no small difference.
func TestB009(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{}, nil)
	long := "sh -c '" + strings.Repeat("echo step; ", 60) + "'"
	verdicts(t, p, map[string]Verdict{long: Allow, long + "; rm -r out": Ask, long + "; rm -r ../out": Deny, long + " ''": Allow, long + "\x00": Deny, long + "\x1b[2K": Ask})
}

// D-41: policy asks about a database's command; that no gate exists is not its business.
func TestDatabaseIsAskedFor(t *testing.T) {
	t.Parallel()
	verdicts(t, withRules(t, Rules{}, nil), map[string]Verdict{"psql -c 'DROP DATABASE app'": Ask})
}

// G-TIER-2: the harmless tools, and those nobody knows.
func TestTools(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{}, nil)
	for _, c := range []struct {
		action  ir.Action
		effects tool.Effects
		verdict Verdict
		tier    ir.Tier
	}{
		{action: toolAction("calculate", map[string]any{"expression": "sudo rm -rf /"}), verdict: Allow, tier: ir.ReadOnly},
		{action: toolAction("todo_write", nil), verdict: Allow, tier: ir.ReadOnly},
		{action: toolAction("events_query", nil), verdict: Allow, tier: ir.ReadOnly},
		{action: toolAction("mcp_x_run", nil), verdict: Ask, tier: ir.FullAccess},
		{action: toolAction("mcp_x_run", nil), effects: tool.Effects{Declared: true, Writes: []string{".car/x"}}, verdict: Deny, tier: ir.FullAccess},
		{action: toolAction("mcp_x_run", nil), effects: tool.Effects{Declared: true, Reads: []string{".env"}}, verdict: Deny, tier: ir.FullAccess},
		{action: toolAction("mcp_x_run", nil), effects: tool.Effects{Declared: true, Hosts: []string{"169.254.169.254"}}, verdict: Deny, tier: ir.FullAccess},
		{action: toolAction("mcp_x_run", nil), effects: tool.Effects{Declared: true, Shell: tool.Shell{Text: "sudo id"}}, verdict: Deny, tier: ir.FullAccess},
		{action: toolAction("shell", map[string]any{"command": "ls"}), effects: tool.Effects{Declared: true, Shell: tool.Shell{Text: "sudo id"}}, verdict: Deny, tier: ir.FullAccess},
		{action: toolAction("shell", nil), verdict: Ask, tier: ir.FullAccess},
		{action: ir.Action{ID: "s", Type: ir.StateWrite, Parameters: map[string]any{"key": "k"}}, verdict: Allow, tier: ir.ReadOnly},
	} {
		j := p.Judge(c.action, c.effects)
		if j.Verdict != c.verdict || j.Tier != c.tier {
			t.Errorf("%s %+v: %s %s, want %s %s", c.action.Tool, c.effects, j.Verdict, j.Tier, c.verdict, c.tier)
		}
	}
}

// G-TIER-1: a value that only speaks of something raises nothing.
func TestValuesAreNoEvidence(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{}, nil)
	for _, command := range []string{"grep -rn 'release notes sudo deploy' docs", "git log --grep='production database password'", "echo https://example.com/delete/prod"} {
		if j := p.Judge(shellAction("a", command), tool.Effects{}); j.Tier != ir.ReadOnly || j.Verdict != Allow {
			t.Errorf("%q: %s %s", command, j.Verdict, j.Tier)
		}
	}
}

// The zero verdict denies, unknown words do not decode, and nothing loosens.
func TestVerdict(t *testing.T) {
	t.Parallel()
	var v Verdict
	if v != Deny || Allow.Stricter(Ask) != Ask || Ask.Stricter(Deny) != Deny || Allow.Stricter(Allow) != Allow {
		t.Fatal("verdicts combine to something looser")
	}
	if err := v.UnmarshalText([]byte("maybe")); err == nil {
		t.Fatal("an unknown verdict decodes")
	}
	var p Posture
	if p != Cautious || p.UnmarshalText([]byte("bold")) == nil {
		t.Fatal("the zero posture is not the careful one, or any word is one")
	}
}

// Many judge at once, and get the same answer.
func TestJudgeIsConcurrent(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{RateLimitTool: []RateLimitTool{{Tool: "shell", MaxCalls: 1000, IntervalSecs: 1}}}, func(c *Config) { c.Facts = osFacts{} })
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if j := p.Judge(shellAction("a", "find . -name '*.go' | xargs wc -l; python3 -c 'import os; print(os.environ)'"), tool.Effects{}); j.Verdict != Deny {
					t.Error("another answer")
					return
				}
				p.Take(toolAction("shell", nil))
			}
		})
	}
	wg.Wait()
}
