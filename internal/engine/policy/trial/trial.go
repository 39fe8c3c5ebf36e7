package trial

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// Config says which policy is tried. Its places are taken from the throwaway folder.
type Config struct {
	// Temp is where throwaway folders are made.
	Temp    string
	Rules   []policy.RuleFile
	Posture policy.Posture
	// ReadOutside is the setting of that name.
	ReadOutside policy.Verdict
	// TextOnly gives the policy no file to look at, so that it decides by text alone;
	// cases with facts have theirs all the same.
	TextOnly bool
	// BelowHome puts the root into the home folder.
	BelowHome bool
}

// place is where a case plays: root, home, scratch and a folder outside.
type place struct{ base, root, home, out, scratch string }

func (c Config) place() (p place, err error) {
	if p.base, err = os.MkdirTemp(c.Temp, "car-trial-"); err != nil {
		return p, err
	}
	base, err := filepath.EvalSymlinks(p.base)
	if err != nil {
		return p, err
	}
	p.base = base
	p.home, p.out = filepath.Join(base, "home", "dev"), filepath.Join(base, "elsewhere")
	p.root, p.scratch = filepath.Join(base, "work", "project"), filepath.Join(base, "tmp", "car-1000", "s1")
	if c.BelowHome {
		p.root = filepath.Join(p.home, "project")
	}
	for _, dir := range []string{p.root, p.home, p.scratch} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return p, err
		}
	}
	return p, nil
}

// fill replaces the placeholders of a case.
func (p place) fill(c Case) (filled Case, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	quoted := func(s string) string {
		q, _ := json.Marshal(s) // a path is text
		return strings.Trim(string(q), `"`)
	}
	text = []byte(strings.NewReplacer("{{+}}", "", "{{ROOT}}", quoted(p.root), "{{HOME}}", quoted(p.home), "{{OUT}}", quoted(p.out)).Replace(string(text)))
	return filled, json.Unmarshal(text, &filled)
}

// Run judges one case. An error says that its facts could not be built.
func Run(cfg Config, c Case) (Answer, error) {
	p, err := cfg.place()
	defer os.RemoveAll(p.base)
	if err != nil {
		return Answer{}, err
	}
	c, err = p.fill(c)
	if err != nil {
		return Answer{}, err
	}
	settings := policy.Config{Root: p.root, Home: p.home, Scratch: p.scratch, CarHome: filepath.Join(p.home, ".car"),
		Rules: cfg.Rules, Posture: cfg.Posture, ReadOutside: cfg.ReadOutside}
	if !cfg.TextOnly || len(c.Setup) > 0 {
		settings.Facts = files{}
	}
	for _, f := range c.Setup {
		if err := p.build(&settings, f); err != nil {
			return Answer{}, err
		}
	}
	judge, err := policy.New(settings)
	if err != nil {
		return Answer{}, err
	}
	j, err := p.judge(judge, &settings, c)
	return compare(c, j), err
}

// judge asks as the runtime does: once before, and again about what a swap, a
// redirect or a look-up brings.
func (p place) judge(judge *policy.Policy, settings *policy.Config, c Case) (policy.Judgement, error) {
	a := ir.Action{ID: "a1", Type: ir.ToolCall, Tool: c.Input.Tool, Parameters: parameters(c.Input)}
	j := judge.Judge(a, tool.Effects{})
	worse := func(v policy.Verdict, why string) {
		if v < j.Verdict {
			j.Verdict = v
			j.Reasons = append([]policy.Reason{{Verdict: v, Rule: "destination", Text: why}}, j.Reasons...)
		}
	}
	from, _ := c.Input.Params["url"].(string)
	for _, f := range c.Setup {
		switch f.Kind {
		case "swap":
			if err := os.RemoveAll(p.at(f.Path)); err != nil {
				return j, err
			}
			if err := p.build(settings, Fact{Kind: f.To.Kind, Path: f.Path, Target: f.To.Target, Content: f.To.Content}); err != nil {
				return j, err
			}
			if again := judge.Judge(a, tool.Effects{}); again.Verdict < j.Verdict {
				j = again
			}
		case "redirects":
			for _, to := range f.Chain {
				worse(judge.Redirect(from, to))
				from = to
			}
		case "resolves":
			for _, text := range f.Addresses {
				addr, err := netip.ParseAddr(text)
				if err != nil {
					return j, fmt.Errorf("setup resolves %s: %w", f.Host, err)
				}
				worse(judge.Destination(f.Host, addr))
			}
		}
	}
	return j, nil
}

// parameters are those of our tools, where the corpus words them shorter.
func parameters(in Input) map[string]any {
	if in.Tool != "edit_file" {
		return in.Params
	}
	for short, long := range map[string]string{"old": "old_text", "new": "new_text"} {
		if v, ok := in.Params[short]; ok {
			in.Params[long] = v
		}
	}
	return in.Params
}
