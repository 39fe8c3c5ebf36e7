package policy

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

func script200() string {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, "echo \"step %d\" | tee -a build/log.txt\n", i)
		fmt.Fprintf(&b, "if [ -f src/file%d.go ]; then go vet ./src; fi\n", i)
		fmt.Fprintf(&b, "for f in src/*.go; do wc -l \"$f\"; done > counts%d.txt\n", i)
		fmt.Fprintf(&b, "x=$(git rev-parse HEAD); git show \"$x\" --stat | head -%d\n", i+1)
	}
	return b.String()
}

func shellAction(id, text string) ir.Action {
	return ir.Action{ID: ir.ActionID(id), Type: ir.ToolCall, Tool: "shell", Parameters: map[string]any{"command": text}}
}

// The aim: a script of 200 lines is judged in less than 3 ms; docs/performance.md has
// what was measured.
func BenchmarkScript200(b *testing.B) {
	p, err := New(newLayout(b, false).config())
	if err != nil {
		b.Fatal(err)
	}
	a := shellAction("a", script200())
	for b.Loop() {
		p.Judge(a, tool.Effects{})
	}
}

func BenchmarkNew(b *testing.B) {
	cfg := newLayout(b, false).config()
	for b.Loop() {
		if _, err := New(cfg); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOneCommand(b *testing.B) {
	p, err := New(newLayout(b, false).config())
	if err != nil {
		b.Fatal(err)
	}
	a := shellAction("a", "git status")
	for b.Loop() {
		p.Judge(a, tool.Effects{})
	}
}

// manyRules are n rules of each kind that speak of tools and words of their own.
func manyRules(n int) []RuleFile {
	var r Rules
	for i := range n {
		name := fmt.Sprintf("tool%d", i)
		r.DenyTool = append(r.DenyTool, name)
		r.DenyToolParam = append(r.DenyToolParam, DenyToolParam{Tool: name, Param: "x"})
		r.DenyToolParamMatching = append(r.DenyToolParamMatching, DenyParamMatching{Tool: name, Param: "x", Matches: "a+b"})
		r.RateLimitTool = append(r.RateLimitTool, RateLimitTool{Tool: name, MaxCalls: 5, IntervalSecs: 1})
		r.Command = append(r.Command, CommandRule{Run: name + " go", Decide: "deny"})
		r.DenyKeyword = append(r.DenyKeyword, fmt.Sprintf("keyword-%d-that-is-rare", i))
	}
	return []RuleFile{{Path: "rules.toml", Rules: r}}
}

// G-POL-2: a thousand rules over a thousand actions grow about linearly.
func BenchmarkManyRules(b *testing.B) {
	for _, n := range []int{0, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			cfg := newLayout(b, false).config()
			cfg.Rules, cfg.Now = manyRules(n), func() time.Time { return time.Unix(0, 0) }
			p, err := New(cfg)
			if err != nil {
				b.Fatal(err)
			}
			actions := make([]ir.Action, 1000)
			for i := range actions {
				actions[i] = shellAction(fmt.Sprint(i), fmt.Sprintf("cat file%d.txt | grep x", i))
			}
			for b.Loop() {
				for _, a := range actions {
					p.Judge(a, tool.Effects{})
					p.Take(a)
				}
			}
		})
	}
}
