package policy

import (
	"fmt"
	"sync"

	"car/internal/engine/ir"
	"car/internal/engine/redact"
	"car/internal/engine/tool"
)

// Policy judges actions. It is immutable but for rate budgets, and safe for
// concurrent use.
type Policy struct {
	cfg      Config
	table    map[string]*program
	handlers map[string]handler
	redactor *redact.Redactor
	code     func() *codePatterns
	rules    *ruleSet
	budgets  *budgets
	// sensitive are paths that globs are tried against.
	sensitive []string
}

// New checks the configuration and returns a policy that judges by it.
func New(c Config) (*Policy, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	rules, err := compileRules(c.Rules)
	if err != nil {
		return nil, err
	}
	return &Policy{
		cfg: c, table: programs(), handlers: handlers(), redactor: redact.New(nil),
		code: sync.OnceValue(newCodePatterns), rules: rules, budgets: newBudgets(rules, c.Now), sensitive: sensitivePaths(c),
	}, nil
}

// With returns a policy that also obeys these files, as a session's own rules
// add to the global ones and cannot loosen them (G-POL-4). Rate budgets of the
// files in force before are shared with p.
func (p *Policy) With(extra ...RuleFile) (*Policy, error) {
	c := p.cfg
	c.Rules = append(append([]RuleFile(nil), c.Rules...), extra...)
	for i := range c.Rules[len(p.cfg.Rules):] {
		c.Rules[len(p.cfg.Rules)+i].Untrusted = true
	}
	n, err := New(c)
	if err != nil {
		return nil, err
	}
	n.budgets.share(p.budgets)
	return n, nil
}

// Judge says what policy makes of an action and the effects its tool declared.
// The same inputs and facts give the same judgement. It takes no rate budget
// and looks at no state (see Take and CheckState).
func (p *Policy) Judge(a ir.Action, e tool.Effects) (out Judgement) {
	defer func() {
		// A guard that fails refuses (P-GUARD-1).
		if r := recover(); r != nil {
			out = Judgement{Tier: ir.FullAccess, Violations: []Violation{{PolicyName: ruleInternal, ActionID: a.ID, Reason: "policy could not judge the action"}},
				Reasons: []Reason{{Verdict: Deny, Rule: ruleInternal, Text: "policy could not judge the action", WayOut: "write it in smaller steps, and report this"}}}
		}
	}()
	j := p.newJudge(a.ID)
	switch a.Type {
	case ir.StateRead, ir.StateWrite, ir.Assertion:
		// The engine's own store: no file, process or network is behind it.
	default:
		j.toolCall(a, e)
	}
	j.staticRules(a)
	return j.done()
}

// toolCall judges a call by what its tool is.
func (j *judge) toolCall(a ir.Action, e tool.Effects) {
	switch a.Tool {
	case "shell":
		command := text(a.Parameters, "command")
		j.shellText(command)
		if e.Shell.Text != "" && e.Shell.Text != command {
			j.shellText(e.Shell.Text)
		}
	case "read_file", "list_dir", "find_files", "grep_files", "write_file", "edit_file":
		j.fileTool(a)
		j.declaredTool(a.Tool, e)
	case "http_request":
		j.httpRequest(a)
	case "calculate", "todo_write", "events_query", "shell_output", "shell_kill":
		// They touch this session's own list, log and jobs.
	case "web_search":
		j.tier, j.rev, j.verdict = ir.FullAccess, ir.Reversible, Ask
		j.network = true
		if j.holdsSecret(text(a.Parameters, "query")) {
			c := &call{name: "web_search"}
			j.deny(c, ruleSecretSend, "would send a secret in its query", "search without it")
			j.add(c)
		}
		j.say(Reason{Verdict: Ask, Rule: ruleTier, Text: "web_search reaches the network"})
	default:
		j.unknownTool(a, e)
	}
}

// declaredTool judges what a tool declared beyond its parameters.
func (j *judge) declaredTool(name string, e tool.Effects) {
	if !e.Declared || len(e.Reads)+len(e.Writes)+len(e.Hosts) == 0 {
		return
	}
	c := j.toolCallOf(name)
	if name == "read_file" || name == "edit_file" || name == "write_file" {
		e.Reads = nil // judged by the path parameter, where content is shown
	}
	if name == "list_dir" || name == "find_files" || name == "grep_files" {
		e.Reads = nil
	}
	j.declared(c, e)
	j.add(c)
}

// unknownTool judges a tool that policy does not know: full access, and a
// question; what it declares may still be refused.
func (j *judge) unknownTool(a ir.Action, e tool.Effects) {
	c := j.toolCallOf(a.Tool)
	c.tier, c.rev, c.verdict, c.reason = ir.FullAccess, ir.Irreversible, Ask, "is a tool that policy does not know"
	if e.Declared {
		j.declared(c, e)
		j.network = j.network || len(e.Hosts) > 0
		if e.Shell.Text != "" {
			j.shellText(e.Shell.Text)
		}
	} else {
		j.network = true
	}
	if c.verdict != Deny {
		j.say(Reason{Verdict: Ask, Rule: "unknown_tool", Text: shorten(a.Tool) + " is a tool that policy does not know"})
	}
	j.add(c)
}

func location(file string, line int) string {
	if line == 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
