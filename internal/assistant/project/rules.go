package project

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"car/internal/engine/policy"
)

// ruleKey finds the rule that policy's words are about.
var ruleKey = regexp.MustCompile(`^([a-z_]+)(\[[0-9]+\])?: `)

// readRules decodes one file of policies/ into policy's own types (G-POL-1).
func readRules(f *File) (policy.RuleFile, error) {
	rules := policy.RuleFile{Path: f.Path, Untrusted: !f.Trusted, Lines: map[string]int{}}
	lines, err := decode(f.Path, f.data, &rules.Rules)
	if err != nil {
		return rules, err
	}
	for path, line := range lines {
		if !strings.Contains(path, ".") {
			rules.Lines[path] = line
		}
	}
	return rules, meaning(f, lines, rules.Rules.Check())
}

// meaning gives what policy says of a value its file and line.
func meaning(f *File, lines map[string]int, err error) error {
	if err == nil {
		return nil
	}
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return problemOf(f, lines, err)
	}
	var errs []error
	for _, one := range joined.Unwrap() {
		errs = append(errs, problemOf(f, lines, one))
	}
	return errors.Join(errs...)
}

func problemOf(f *File, lines map[string]int, err error) error {
	problem := &Error{File: f.Path, Problem: err.Error(), Err: err}
	if m := ruleKey.FindStringSubmatch(err.Error()); m != nil {
		problem.Key, problem.Problem = m[1]+m[2], strings.TrimPrefix(err.Error(), m[0])
		problem.Line = lines[problem.Key]
	}
	return problem
}

// permissions are the rules that do not count while their file is not trusted.
func permissions(f *File, rules policy.RuleFile) (ignored []Ignored) {
	if f.Trusted {
		return nil
	}
	why := whyTrust
	if f.Outer {
		why = whyOuter
	}
	for i, c := range rules.Rules.Command {
		if c.Decide == policy.Allow.String() {
			key := fmt.Sprintf("command[%d]", i)
			ignored = append(ignored, Ignored{File: f.Path, Line: rules.Lines[key], Key: key, Why: why, Waits: why == whyTrust})
		}
	}
	return ignored
}
