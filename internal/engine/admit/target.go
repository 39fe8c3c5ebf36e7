package admit

import (
	"slices"
	"strings"

	"car/internal/engine/policy"
)

// statedByModel marks what only the model says of a call: it is shown as that, and
// stands where nothing was derived (A-APPR-3).
const statedByModel = "stated by the model"

// target derives what an effect is about; what a model states never replaces it (A-APPR-3).
func target(it *item) (target, source string) {
	pushed := pushTargets(it.judgement.Programs)
	stated, _ := it.action.Parameters["target"].(string)
	switch {
	case len(pushed) > 0:
		return strings.Join(pushed, ", "), "derived"
	case len(it.judgement.Targets) > 0:
		return strings.Join(it.judgement.Targets, ", "), "derived"
	case len(it.judgement.Hosts) > 0:
		return strings.Join(it.judgement.Hosts, ", "), "derived"
	case it.effects.Shell.Text != "":
		return it.effects.Shell.Text, "command"
	case strings.TrimSpace(stated) != "":
		return stated, statedByModel
	default:
		return it.action.Tool, "tool"
	}
}

// environment is the one that a call names, which is the model's word, or none.
func environment(it *item) string {
	if stated, _ := it.action.Parameters["environment"].(string); strings.TrimSpace(stated) != "" {
		return stated + " (" + statedByModel + ")"
	}
	return "unspecified"
}

// pushOptions are those of git push that change neither what is pushed nor where to.
var pushOptions = []string{"-u", "--set-upstream", "-q", "--quiet", "-v", "--verbose", "-f", "--force"}

// pushTargets are the branches that a line pushes to, as remote/branch. A line that
// does more than push, or whose push is not plain, has none: it is its own best name.
func pushTargets(programs []policy.Program) []string {
	if len(programs) != 1 || len(programs[0].Words) < 4 || !slices.Equal(programs[0].Words[:2], []string{"git", "push"}) {
		return nil
	}
	var operands []string
	for _, w := range programs[0].Words[2:] {
		switch {
		case slices.Contains(pushOptions, w):
		case strings.HasPrefix(w, "-"):
			return nil
		default:
			operands = append(operands, w)
		}
	}
	if len(operands) < 2 {
		return nil
	}
	var targets []string
	for _, spec := range operands[1:] {
		_, to, named := strings.Cut(strings.TrimPrefix(spec, "+"), ":")
		if !named {
			to = strings.TrimPrefix(spec, "+")
		}
		if to = strings.TrimPrefix(to, "refs/heads/"); to == "" || to == "HEAD" {
			return nil
		}
		targets = append(targets, operands[0]+"/"+to)
	}
	return targets
}
