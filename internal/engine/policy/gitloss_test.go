package policy

import (
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// P-WORK-1, D13: what takes the commits away is asked for whatever was granted.
func TestLossOfTheGitDirectoryIsAlwaysAsked(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{}, func(c *Config) { c.Granted = ir.FullAccess })
	for text, always := range map[string]bool{
		"rm -rf .git": true, "mv .git old": true, "rm -rf sub/.git": true, "find .git -delete": true, "rm -rf .git/objects": true, "rm -r .git/refs": true,
		"find . -path './.git/*' -delete": true, "find . -name HEAD -delete": true, "find . -not -path './.car/*' -delete": true, "find . -name .git -exec rm -rf {} +": true,
		"find . -type f -not -path './.car/*' -exec sed -i s/a/b/ {} +": true, "find . -type f -not -path './.car/*' | xargs rm": true,
		"find . -type f -not -path './.car/*' -not -path './.git/*' -exec sed -i s/a/b/ {} +": false, "find . -name '*.go' -exec sed -i s/a/b/ {} +": false,
		"find . -name '*.orig' -delete": false, "find build -delete": false, "find . -path './.github/x' -name '*.bak' -delete": false, "find . -type d -empty -delete": false,
		"rm .git/index.lock": false, "rm -rf build": false,
	} {
		j := p.Judge(shellAction("a1", text), tool.Effects{})
		if asked := j.AskAlways || j.Verdict == Deny; asked != always {
			t.Errorf("%s: asked whatever was granted %v, want %v (%s: %s)", text, asked, always, j.Verdict, j.Message())
		}
	}
}
