package policy

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/redact"
	"car/internal/engine/shell"
)

// source says where a rule stands.
type source struct {
	file string
	line int
}

// ruleSet is every rule in force, indexed so that judging does not grow with
// rules that cannot apply.
type ruleSet struct {
	denyTool map[string][]source
	keywords []keywordRule
	// params are the parameter rules by tool.
	params map[string][]paramRule
	rates  map[string][]rateRule
	states []stateRule
	// commands are command rules by program.
	commands map[string][]commandRule
	trace    []TraceRule
}

type keywordRule struct {
	word string
	source
}

type paramRule struct {
	name string
	// param is the parameter; denies says whether a value, present or not, is refused.
	param  string
	denies func(value any, present bool) bool
	reason string
	source
}

type rateRule struct {
	RateLimitTool
	id string
	source
}

type stateRule struct {
	RequireState
	source
}

type commandRule struct {
	words  []string
	flags  []string
	args   []string
	decide Verdict
	reason string
	name   string
	source
}

func compileRules(files []RuleFile) (*ruleSet, error) {
	s := &ruleSet{denyTool: map[string][]source{}, params: map[string][]paramRule{}, rates: map[string][]rateRule{}, commands: map[string][]commandRule{}}
	for _, f := range files {
		at := func(kind string, i int) source { return source{f.Path, f.line(kind, i)} }
		r := f.Rules
		for i, t := range r.DenyTool {
			s.denyTool[t] = append(s.denyTool[t], at("deny_tool", i))
		}
		for i, k := range r.DenyKeyword {
			s.keywords = append(s.keywords, keywordRule{k, at("deny_keyword", i)})
		}
		for i, d := range r.DenyToolParam {
			s.params[d.Tool] = append(s.params[d.Tool], denyParam(d, at("deny_tool_param", i)))
		}
		for i, d := range r.AllowToolParam {
			s.params[d.Tool] = append(s.params[d.Tool], allowParam(d, at("allow_tool_param", i)))
		}
		for i, d := range r.DenyToolParamMatching {
			re, err := regexp.Compile(d.Matches)
			if err != nil {
				return nil, fmt.Errorf("%s: deny_tool_param_matching[%d]: matches: %w", f.Path, i, err)
			}
			s.params[d.Tool] = append(s.params[d.Tool], matchParam(d, re, at("deny_tool_param_matching", i)))
		}
		for i, d := range r.RateLimitTool {
			one := rateRule{d, fmt.Sprintf("%s#%d", f.Path, i), at("rate_limit_tool", i)}
			s.rates[d.Tool] = append(s.rates[d.Tool], one)
		}
		for i, d := range r.RequireState {
			s.states = append(s.states, stateRule{d, at("require_state", i)})
		}
		for i, d := range r.Command {
			if err := s.addCommand(d, f.Untrusted, at("command", i)); err != nil {
				return nil, fmt.Errorf("%s: command[%d]: %w", f.Path, i, err)
			}
		}
		s.trace = append(s.trace, r.TraceRule...)
	}
	return s, nil
}

func (s *ruleSet) addCommand(d CommandRule, untrusted bool, at source) error {
	var v Verdict
	if err := v.UnmarshalText([]byte(d.Decide)); err != nil {
		return err
	}
	if v == Allow && untrusted {
		return nil
	}
	words := strings.Fields(d.Run)
	if len(words) == 0 {
		return fmt.Errorf("run must not be empty")
	}
	name := path.Base(words[0])
	s.commands[name] = append(s.commands[name], commandRule{
		words: words, flags: d.Flags, args: d.Args, decide: v, reason: d.Reason, name: "command:" + strings.Join(words, " "), source: at,
	})
	return nil
}

func denyParam(d DenyToolParam, at source) paramRule {
	return paramRule{name: "deny_tool_param:" + d.Tool + "." + d.Param, param: d.Param, source: at, reason: "the parameter " + d.Param + " has a denied value",
		denies: func(v any, present bool) bool {
			if !present {
				return false
			}
			text := coerce(v)
			return (d.Equals == nil || text == *d.Equals) && (d.Contains == nil || strings.Contains(text, *d.Contains))
		}}
}

func allowParam(d AllowToolParam, at source) paramRule {
	return paramRule{name: "allow_tool_param:" + d.Tool + "." + d.Param, param: d.Param, source: at, reason: "the parameter " + d.Param + " is not among the allowed values",
		denies: func(v any, present bool) bool { return !present || !slices.Contains(d.Allow, coerce(v)) }}
}

func matchParam(d DenyParamMatching, re *regexp.Regexp, at source) paramRule {
	return paramRule{name: "deny_tool_param_matching:" + d.Tool + "." + d.Param, param: d.Param, source: at, reason: "the parameter " + d.Param + " has a denied form",
		denies: func(v any, present bool) bool { return present && re.MatchString(coerce(v)) }}
}

// coerce is a value as text: strings as they are, all else as JSON.
func coerce(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return "null"
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// holdsKeyword looks through every value, nested ones and keys of objects
// included.
func holdsKeyword(v any, word string) bool {
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			if strings.Contains(k, word) || holdsKeyword(x, word) {
				return true
			}
		}
		return false
	case []any:
		for _, x := range v {
			if holdsKeyword(x, word) {
				return true
			}
		}
		return false
	}
	return strings.Contains(coerce(v), word)
}

// staticRules applies the rules that need nothing but the action.
func (j *judge) staticRules(a ir.Action) {
	s := j.p.rules
	for _, at := range s.denyTool[a.Tool] {
		j.violate(Violation{PolicyName: "deny_tool:" + a.Tool, Reason: "the tool is denied", File: at.file, Line: at.line}, "use another tool")
	}
	for _, k := range s.keywords {
		for _, name := range sortedKeys(a.Parameters) {
			if holdsKeyword(a.Parameters[name], k.word) {
				j.violate(Violation{PolicyName: "deny_keyword:" + j.p.ruleText(k.word), Reason: "the parameter " + name + " holds a denied word", File: k.file, Line: k.line}, "")
				break
			}
		}
	}
	for _, r := range s.params[a.Tool] {
		v, present := a.Parameters[r.param]
		if r.denies(v, present) {
			j.violate(Violation{PolicyName: r.name, Reason: r.reason, File: r.file, Line: r.line}, "")
		}
	}
}

// ruleText is a rule's own text for its name, without what looks like a secret.
func (p *Policy) ruleText(s string) string {
	clean, _ := p.redactor.String(s)
	return strings.ReplaceAll(clean, redact.Mask, "…")
}

// commandRules applies [[command]] rules to one parsed command (G-POL-5). The
// strictest decision wins; a command that no rule allows leaves the text
// uncovered.
func (j *judge) commandRules(c *call) {
	cmd := c.cmd
	if len(cmd.Words) == 0 {
		if len(cmd.Redirs) > 0 || c.tier > ir.ReadOnly {
			j.commands++
			j.allowedAll = false
		}
		return
	}
	if cmd.Lookup {
		return
	}
	words := make([]string, len(cmd.Words))
	for i, w := range cmd.Words {
		words[i] = w.String()
	}
	name, trusted := j.r.programName(cmd, words[0])
	decided, found := Allow, false
	for _, r := range j.p.rules.commands[path.Base(name)] {
		if !r.matches(name, trusted, words, cmd) {
			continue
		}
		found = true
		decided = decided.Stricter(r.decide)
		j.commandRule(c, r)
	}
	j.commands++
	if c.tier <= ir.ReadOnly && c.verdict == Allow {
		return // what only reads needs no cover
	}
	if !found || decided != Allow || c.cmd.Opaque != "" || len(cmd.Redirs) > 0 && redirWrites(cmd) {
		j.allowedAll = false
	}
}

func redirWrites(cmd *shell.Command) bool {
	for _, r := range cmd.Redirs {
		if r.Op == shell.RedirWrite || r.Op == shell.RedirAppend || r.Op == shell.RedirReadWrite {
			if t, ok := r.Target.Static(); !ok || deviceOf(t, t) != goodDevice {
				return true
			}
		}
	}
	return false
}

func (j *judge) commandRule(c *call, r commandRule) {
	switch r.decide {
	case Deny:
		reason := r.reason
		if reason == "" {
			reason = "the command is denied by a rule"
		}
		c.verdict = Deny
		c.reason = reason
		j.violate(Violation{PolicyName: r.name, Reason: reason, File: r.file, Line: r.line}, "")
	case Ask:
		c.always = true
		c.verdict = c.verdict.Stricter(Ask)
		reason := r.reason
		if reason == "" {
			reason = "the command is asked for by a rule"
		}
		j.reasons = append(j.reasons, Reason{Verdict: Ask, Rule: r.name, Text: reason, File: r.file, Line: r.line})
	case Allow:
	}
}

// matches compares the rule's words with program and leading words, options in
// between aside, then flags and arguments.
func (r commandRule) matches(name string, trusted bool, words []string, cmd *shell.Command) bool {
	if trusted && name != path.Base(r.words[0]) || !trusted && name != r.words[0] {
		return false
	}
	rest := words[1:]
	for _, want := range r.words[1:] {
		i := 0
		// Options in front of a subcommand do not hide it: git -C . clean.
		for i < len(rest) && rest[i] != want {
			if !strings.HasPrefix(rest[i], "-") && (i == 0 || !takesNext(r.words[0], rest[i-1])) {
				return false
			}
			i++
		}
		if i == len(rest) {
			return false
		}
		rest = rest[i+1:]
	}
	if len(r.flags) > 0 && !slices.ContainsFunc(words[1:], func(w string) bool { return r.hasFlag(w) }) {
		return false
	}
	if len(r.args) == 0 {
		return true
	}
	return slices.ContainsFunc(rest, func(w string) bool {
		return slices.ContainsFunc(r.args, func(g string) bool {
			ok, err := path.Match(strings.ReplaceAll(g, "/", "\x01"), strings.ReplaceAll(w, "/", "\x01"))
			return ok && err == nil
		})
	})
}

// takesNext reports options of a program that take the next word.
func takesNext(program, opt string) bool {
	switch opt {
	case "-C", "-c", "--git-dir", "--work-tree", "--namespace":
		return path.Base(program) == "git"
	case "--prefix", "-H", "--host", "--context", "-n", "--namespace_", "--profile", "--region", "--project":
		return true
	}
	return false
}

// hasFlag matches a flag alone, with =value, or within a cluster of letters.
func (r commandRule) hasFlag(w string) bool {
	for _, f := range r.flags {
		if w == f || strings.HasPrefix(f, "--") && strings.HasPrefix(w, f+"=") {
			return true
		}
		if len(f) == 2 && f[0] == '-' && f[1] != '-' && len(w) > 2 && w[0] == '-' && w[1] != '-' && strings.Contains(w[1:], f[1:]) {
			return true
		}
	}
	return false
}

// CheckState reports every require_state rule that the action does not meet
// (E-EXEC-1: judged in the action's turn). get reads a state key.
func (p *Policy) CheckState(a ir.Action, get func(key string) (any, bool)) []Violation {
	var out []Violation
	for _, r := range p.rules.states {
		if r.Tool != "" && r.Tool != a.Tool {
			continue
		}
		v, ok := get(r.Key)
		if ok && coerce(v) == coerce(r.Value) {
			continue
		}
		out = append(out, Violation{PolicyName: "require_state:" + r.Key, ActionID: a.ID, Reason: "the state " + r.Key + " has not the required value", File: r.file, Line: r.line})
	}
	return out
}

// TraceRules returns the trace rules in force, for the gate that enforces them.
func (p *Policy) TraceRules() []TraceRule { return slices.Clone(p.rules.trace) }
