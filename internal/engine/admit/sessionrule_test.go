package admit

import (
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// asked is an item whose only questions are policy's.
func asked(effects tool.Effects, j policy.Judgement) *item {
	if j.Reasons == nil {
		j.Reasons = []policy.Reason{{Verdict: policy.Ask, Rule: "posture", Text: "x"}}
	}
	if j.Tier == ir.TierUnset {
		j.Tier = ir.SandboxEdit
	}
	j.Reversibility = ir.Reversible
	return &item{action: ir.Action{Tool: map[bool]string{true: "shell", false: "read_file"}[effects.Shell.Text != ""]}, effects: effects, judgement: j,
		questions: []question{{gate: gatePolicy, reason: "x"}}}
}

func reads(paths ...string) *item {
	return asked(tool.Effects{Declared: true, Reads: paths}, policy.Judgement{})
}

// line is a shell line of programs given as class and words.
func line(programs ...string) *item {
	j := policy.Judgement{}
	for _, p := range programs {
		class, words, _ := strings.Cut(p, ": ")
		j.Programs = append(j.Programs, policy.Program{Class: class, Words: strings.Fields(words), Dir: "."})
		j.Runs = append(j.Runs, strings.Fields(words))
	}
	return asked(tool.Effects{Shell: tool.Shell{Text: strings.Join(programs, ";")}}, j)
}

func with(it *item, change func(*item)) *item {
	change(it)
	return it
}

// A-APPR-12, P-GUARD-3, B013: a session rule covers a tool below a folder or lines
// whose every command begins with the words that were shown, and nothing else.
func TestSessionRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given, now *item
		covered    bool
	}{
		"another file of the folder":   {reads("docs/a.md"), reads("docs/b.md"), true},
		"a folder below":               {reads("docs/a.md"), reads("docs/deep/b.md"), true},
		"a folder that begins alike":   {reads("docs/a.md"), reads("docs2/b.md"), false},
		"out by dots":                  {reads("docs/a.md"), reads("docs/../main.go"), false},
		"above the root":               {reads("docs/a.md"), reads("../docs/b.md"), false},
		"absolute":                     {reads("docs/a.md"), reads("/docs/b.md"), false},
		"two folders at once":          {reads("docs/a.md"), reads("docs/a.md", "src/b.go"), false},
		"the root is no folder":        {reads("a.md"), reads("b.md"), false},
		"another tool":                 {reads("docs/a.md"), with(reads("docs/b.md"), func(i *item) { i.action.Tool = "write_file" }), false},
		"another question":             {reads("docs/a.md"), with(reads("docs/b.md"), func(i *item) { i.judgement.Reasons[0].Rule = "read_outside" }), false},
		"a gate asks too":              {reads("docs/a.md"), with(reads("docs/b.md"), func(i *item) { i.questions = append(i.questions, question{gate: "intent"}) }), false},
		"more authority":               {reads("docs/a.md"), with(reads("docs/b.md"), func(i *item) { i.judgement.Tier = ir.FullAccess }), false},
		"always asked":                 {reads("docs/a.md"), with(reads("docs/b.md"), func(i *item) { i.judgement.AskAlways = true }), false},
		"irreversible":                 {reads("docs/a.md"), with(reads("docs/b.md"), func(i *item) { i.judgement.Reversibility = ir.Irreversible }), false},
		"the same words":               {line("build: go test ./a"), line("build: go test -v ./b"), true},
		"another subcommand":           {line("build: go test ./a"), line("build: go run ./b"), false},
		"a bare program is no prefix":  {line("build: make"), line("build: make deploy"), false},
		"each of two":                  {line("build: go test ./a", "fact: git status"), line("fact: git status -s"), true},
		"one of two is new":            {line("build: go test ./a"), line("build: go test ./a", "delete: rm -r out"), false},
		"an interpreter":               {line("code: python x.py"), line("code: python x.py"), false},
		"a package runner":             {line("script: npx tool"), line("script: npx tool"), false},
		"an installer":                 {line("install: npm install"), line("install: npm install"), false},
		"a push":                       {line("push: git push"), line("push: git push"), false},
		"under another program":        {line("build: go test ./a"), with(line("build: go test ./a"), func(i *item) { i.judgement.Programs[0].Wraps = true }), false},
		"with a variable":              {line("build: go test ./a"), with(line("build: go test ./a"), func(i *item) { i.judgement.Programs[0].Env = []string{"GOFLAGS=-exec=x"} }), false},
		"elsewhere":                    {line("build: go test ./a"), with(line("build: go test ./a"), func(i *item) { i.judgement.Programs[0].Dir = "sub" }), false},
		"into a file":                  {line("build: go test ./a"), with(line("build: go test ./a"), func(i *item) { i.judgement.Targets = []string{"out"} }), false},
		"undecided":                    {line("build: go test ./a"), with(line("build: go test ./a"), func(i *item) { i.judgement.Undecided = true }), false},
		"a part that is not a program": {line("build: go test ./a"), with(line("build: go test ./a"), func(i *item) { i.judgement.Runs = append(i.judgement.Runs, []string{"x"}) }), false},
		"over the network":             {line("build: go test ./a"), with(line("build: go test ./a"), func(i *item) { i.judgement.Network = true }), false},
	} {
		var grants []string
		if rule, ok := ruleOf(c.given); ok {
			grants = []string{rule.stored()}
			if DescribeGrant(grants[0]) != rule.String() {
				t.Errorf("%s: listed as %q", name, DescribeGrant(grants[0]))
			}
		}
		if _, got := ruled(c.now, grants); got != c.covered {
			t.Errorf("%s: covered %v, want %v by %v", name, got, c.covered, grants)
		}
	}
	for _, junk := range []string{"rule:", "rule:{}", `rule:{"tool":"shell","tier":"full_access","why":["posture"]}`, "scope:x", ""} {
		if by, ok := ruled(line("build: go test"), []string{junk}); ok {
			t.Errorf("%q covers as %q", junk, by)
		}
	}
	if rule, _ := ruleOf(line("build: go test ./a", "fact: git status")); rule.String() != "commands that are only: git status …, go test …" {
		t.Errorf("shown as %q", rule)
	}
	if rule, _ := ruleOf(reads("docs/a.md")); rule.String() != "read_file below docs/" {
		t.Errorf("shown as %q", rule)
	}
}
