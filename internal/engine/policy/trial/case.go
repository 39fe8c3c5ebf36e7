package trial

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// Case is a call with the right answer. Without a verdict it is judged only.
type Case struct {
	ID    string `json:"id" toml:"id"`
	Class string `json:"class" toml:"class"`
	Input Input  `json:"input" toml:"input"`
	Setup []Fact `json:"setup" toml:"setup"`
	// Tier and Verdict are the right answer; an empty tier is any.
	Tier    string `json:"tier" toml:"tier"`
	Verdict string `json:"verdict" toml:"verdict"`
	// Match is empty for equal, or at_least: no weaker in either.
	Match string `json:"match" toml:"match"`
	// Ideal is the verdict of a governor that sees through the trick; falling short of
	// it is no failure.
	Ideal string `json:"ideal" toml:"ideal"`
	Why   string `json:"why" toml:"why"`
}

// Input is the call.
type Input struct {
	Tool   string         `json:"tool" toml:"tool"`
	Params map[string]any `json:"params" toml:"params"`
}

// Fact is something that is so when the call is judged. Paths are relative to the root
// unless absolute.
type Fact struct {
	Kind    string `json:"kind" toml:"kind"`
	Path    string `json:"path" toml:"path"`
	Content string `json:"content" toml:"content"`
	Target  string `json:"target" toml:"target"`
	// Name and Value are those of an option.
	Name  string `json:"name" toml:"name"`
	Value any    `json:"value" toml:"value"`
	// Chain are redirects, Addresses what Host resolves to.
	Chain     []string `json:"chain" toml:"chain"`
	Host      string   `json:"host" toml:"host"`
	Addresses []string `json:"addresses" toml:"addresses"`
	// To takes the place of Path between the check and the use.
	To   *Fact  `json:"to" toml:"to"`
	When string `json:"when" toml:"when"`
}

// DecodeLine reads a row of a .jsonl file. Placeholders stay until the case runs.
func DecodeLine(line []byte) (Case, error) {
	var c Case
	if err := json.Unmarshal(line, &c); err != nil {
		return c, err
	}
	return c, c.Check()
}

// Check says what is wrong with a case.
func (c Case) Check() error {
	var errs []error
	if c.Input.Tool == "" {
		errs = append(errs, errors.New("input.tool is missing"))
	}
	for key, word := range map[string]string{"verdict": c.Verdict, "ideal": c.Ideal} {
		var v policy.Verdict
		if word != "" && v.UnmarshalText([]byte(word)) != nil {
			errs = append(errs, fmt.Errorf("%s %q is none of allow, ask, deny", key, word))
		}
	}
	var t ir.Tier
	if c.Tier != "" && t.UnmarshalText([]byte(c.Tier)) != nil {
		errs = append(errs, fmt.Errorf("tier %q is none of read_only, sandbox_edit, full_access", c.Tier))
	}
	if c.Match != "" && c.Match != "at_least" && c.Match != "equal" {
		errs = append(errs, fmt.Errorf("match %q is none of equal, at_least", c.Match))
	}
	return errors.Join(errs...)
}

// Answer is what the policy made of a case.
type Answer struct {
	policy.Judgement
	// Good says that it is the right answer, Ideal that it is the best one; both are
	// true where the case names none.
	Good, Ideal bool
}

// compare fills in whether the judgement is right.
func compare(c Case, j policy.Judgement) Answer {
	if j.Verdict == policy.Deny {
		j.Tier = ir.FullAccess // what is never allowed needs the most there is
	}
	a := Answer{Judgement: j, Good: true, Ideal: true}
	if best, ok := verdictOf(c.Ideal); ok {
		a.Ideal = j.Verdict <= best
	}
	want, ok := verdictOf(c.Verdict)
	if !ok {
		return a
	}
	tier := ir.TierUnset
	if c.Tier != "" {
		_ = tier.UnmarshalText([]byte(c.Tier)) // Check has looked at it
	}
	switch {
	case want == policy.Deny:
		a.Good = j.Verdict == policy.Deny
	case c.Match == "at_least":
		a.Good = j.Verdict <= want && j.Tier >= tier
	default:
		a.Good = j.Verdict == want && (c.Tier == "" || j.Tier == tier)
	}
	return a
}

func verdictOf(word string) (v policy.Verdict, ok bool) {
	return v, word != "" && v.UnmarshalText([]byte(word)) == nil
}

// Brief is the call's essential parameter, for a list.
func (c Case) Brief() string {
	for _, key := range []string{"command", "url", "path"} {
		text, ok := c.Input.Params[key].(string)
		if !ok {
			continue
		}
		if runes := []rune(text); len(runes) > 120 {
			text = string(runes[:80]) + "…" + string(runes[len(runes)-30:])
		}
		return strings.TrimSpace(text)
	}
	return ""
}
