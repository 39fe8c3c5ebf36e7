package policy

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// Rules is one policy file (G-POL-2, G-POL-5). Whoever decodes it refuses
// unknown keys; Check refuses values that mean nothing.
type Rules struct {
	DenyTool              []string            `toml:"deny_tool"`
	DenyKeyword           []string            `toml:"deny_keyword"`
	DenyToolParam         []DenyToolParam     `toml:"deny_tool_param"`
	AllowToolParam        []AllowToolParam    `toml:"allow_tool_param"`
	DenyToolParamMatching []DenyParamMatching `toml:"deny_tool_param_matching"`
	RateLimitTool         []RateLimitTool     `toml:"rate_limit_tool"`
	TraceRule             []TraceRule         `toml:"trace_rule"`
	RequireState          []RequireState      `toml:"require_state"`
	Command               []CommandRule       `toml:"command"`
}

// DenyToolParam denies a tool by a parameter: both conditions must hold where
// both are given; with neither, presence denies.
type DenyToolParam struct {
	Tool     string  `toml:"tool"`
	Param    string  `toml:"param"`
	Equals   *string `toml:"equals"`
	Contains *string `toml:"contains"`
}

// AllowToolParam is the one allowlist: exact, case-sensitive; absent or empty denies.
type AllowToolParam struct {
	Tool  string   `toml:"tool"`
	Param string   `toml:"param"`
	Allow []string `toml:"allow"`
}

// DenyParamMatching denies a tool by an unanchored RE2 pattern over a parameter.
type DenyParamMatching struct {
	Tool    string `toml:"tool"`
	Param   string `toml:"param"`
	Matches string `toml:"matches"`
}

// RateLimitTool allows MaxCalls within a sliding window of IntervalSecs seconds;
// 0 calls deny all.
type RateLimitTool struct {
	Tool         string  `toml:"tool"`
	MaxCalls     int64   `toml:"max_calls"`
	IntervalSecs float64 `toml:"interval_secs"`
}

// TraceRule speaks of what already happened (G-TRACE-1). Exactly one form is set.
type TraceRule struct {
	Never  *TraceEvent  `toml:"never"`
	Before *TraceBefore `toml:"before"`
	After  *TraceAfter  `toml:"after"`
	AtMost *TraceAtMost `toml:"at_most"`
	Within *TraceWithin `toml:"within"`
	Reason string       `toml:"reason"`
}

// TraceEvent matches an executed action; empty members match everything.
type TraceEvent struct {
	Tool   string `toml:"tool"`
	Run    string `toml:"run"`
	Path   string `toml:"path"`
	Status string `toml:"status"`
}

// TraceBefore says that Then needs an earlier First.
type TraceBefore struct {
	First TraceEvent `toml:"first"`
	Then  TraceEvent `toml:"then"`
}

// TraceAfter says that after First there is no Never, until Until.
type TraceAfter struct {
	First TraceEvent  `toml:"first"`
	Never TraceEvent  `toml:"never"`
	Until *TraceEvent `toml:"until"`
}

// TraceAtMost bounds how often Event may happen.
type TraceAtMost struct {
	Event TraceEvent `toml:"event"`
	N     int64      `toml:"n"`
}

// TraceWithin says that Then must follow Event within N events.
type TraceWithin struct {
	Event TraceEvent `toml:"event"`
	Then  TraceEvent `toml:"then"`
	N     int64      `toml:"n"`
}

// RequireState lets a tool (or every tool, where Tool is empty) run only while
// a state key has a value.
type RequireState struct {
	Key   string `toml:"key"`
	Value any    `toml:"value"`
	Tool  string `toml:"tool"`
}

// CommandRule decides parsed commands of shell texts (G-POL-5).
type CommandRule struct {
	// Run is the program and its leading words.
	Run string `toml:"run"`
	// Flags matches when one of them is given.
	Flags []string `toml:"flags"`
	// Args are globs; one of them must match an argument.
	Args   []string `toml:"args"`
	Decide string   `toml:"decide"`
	Reason string   `toml:"reason"`
}

// RuleFile is a decoded file with where its rules stand.
type RuleFile struct {
	Path  string
	Rules Rules
	// Lines maps a rule, as "kind" or "kind[index]" counting from 0, to its line.
	Lines map[string]int
	// Untrusted marks a project's file that no person trusted: its permissions are
	// ignored, its prohibitions hold (G-TRUST-1).
	Untrusted bool
}

func (f RuleFile) line(kind string, i int) int {
	if n, ok := f.Lines[kind+"["+strconv.Itoa(i)+"]"]; ok {
		return n
	}
	return f.Lines[kind]
}

// Check reports every value that means nothing, each with its key.
func (r Rules) Check() error {
	c := &checker{}
	for i, t := range r.DenyTool {
		c.need("deny_tool", i, "tool", t)
	}
	for i, k := range r.DenyKeyword {
		c.need("deny_keyword", i, "keyword", k)
	}
	for i, d := range r.DenyToolParam {
		c.need("deny_tool_param", i, "tool", d.Tool)
		c.need("deny_tool_param", i, "param", d.Param)
	}
	for i, d := range r.AllowToolParam {
		c.need("allow_tool_param", i, "tool", d.Tool)
		c.need("allow_tool_param", i, "param", d.Param)
	}
	for i, d := range r.DenyToolParamMatching {
		c.need("deny_tool_param_matching", i, "tool", d.Tool)
		c.need("deny_tool_param_matching", i, "param", d.Param)
		if _, err := regexp.Compile(d.Matches); err != nil {
			c.bad("deny_tool_param_matching", i, "matches: %v", err)
		}
	}
	for i, d := range r.RateLimitTool {
		c.need("rate_limit_tool", i, "tool", d.Tool)
		if d.MaxCalls < 0 {
			c.bad("rate_limit_tool", i, "max_calls must not be negative")
		}
		if !(d.IntervalSecs > 0) {
			c.bad("rate_limit_tool", i, "interval_secs must be above zero")
		}
	}
	for i, d := range r.RequireState {
		c.need("require_state", i, "key", d.Key)
	}
	for i, d := range r.Command {
		c.command(i, d)
	}
	for i, d := range r.TraceRule {
		c.trace(i, d)
	}
	return errors.Join(c.errs...)
}

// checker collects what is wrong with a file of rules.
type checker struct{ errs []error }

func (c *checker) bad(kind string, i int, format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s[%d]: %s", kind, i, fmt.Sprintf(format, args...)))
}

func (c *checker) need(kind string, i int, key, value string) {
	if strings.TrimSpace(value) == "" {
		c.bad(kind, i, "%s must not be empty", key)
	}
}

func (c *checker) command(i int, d CommandRule) {
	c.need("command", i, "run", d.Run)
	var v Verdict
	if err := v.UnmarshalText([]byte(d.Decide)); err != nil {
		c.bad("command", i, "decide: %v", err)
	}
	for _, g := range d.Args {
		if _, err := path.Match(g, ""); err != nil {
			c.bad("command", i, "args: %q is no pattern", g)
		}
	}
	for _, f := range d.Flags {
		if !strings.HasPrefix(f, "-") {
			c.bad("command", i, "flags: %q does not begin with a dash", f)
		}
	}
}

func (c *checker) trace(i int, d TraceRule) {
	forms := 0
	for _, set := range []bool{d.Never != nil, d.Before != nil, d.After != nil, d.AtMost != nil, d.Within != nil} {
		if set {
			forms++
		}
	}
	if forms != 1 {
		c.bad("trace_rule", i, "exactly one of never, before, after, at_most and within must be given")
	}
	if d.AtMost != nil && d.AtMost.N < 0 {
		c.bad("trace_rule", i, "at_most.n must not be negative")
	}
	if d.Within != nil && d.Within.N < 1 {
		c.bad("trace_rule", i, "within.n must be above zero")
	}
}
