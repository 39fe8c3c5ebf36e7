package admit

import (
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// A-APPR-3: what an approval is about is derived from parsed words, and what a
// model states is shown as that and replaces nothing.
func TestTargets(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"git push origin HEAD:main":             "origin/main, derived",
		"git push -u origin feature/x":          "origin/feature/x, derived",
		"git push --force up +a:refs/heads/b c": "up/b, up/c, derived",
		"git push origin":                       "git push origin, command",
		"git push --mirror origin main":         "git push --mirror origin main, command",
		"git push origin HEAD":                  "git push origin HEAD, command",
		"git push origin :gone":                 "origin/gone, derived",
		"kubectl apply -f x.yaml":               "kubectl apply -f x.yaml, command",
	} {
		it := &item{action: ir.Action{Tool: "shell", Parameters: map[string]any{"target": "a nice place"}}, effects: tool.Effects{Shell: tool.Shell{Text: command}},
			judgement: policy.Judgement{Programs: []policy.Program{{Words: strings.Fields(command)}}}}
		if target, source := target(it); target+", "+source != want {
			t.Errorf("%s is about %q, %s; want %s", command, target, source, want)
		}
	}
	stated := &item{action: ir.Action{Tool: "deploy", Parameters: map[string]any{"target": "web", "environment": "production"}}}
	if target, source := target(stated); target != "web" || source != "stated by the model" || environment(stated) != "production (stated by the model)" {
		t.Errorf("a stated target is %q, %s in %s", target, source, environment(stated))
	}
	if none := (&item{action: ir.Action{Tool: "deploy"}}); environment(none) != "unspecified" {
		t.Errorf("no environment is %q", environment(none))
	}
}
