package claim

import (
	"bufio"
	"os"
	"strings"
	"testing"
)

// endings are the labelled texts of the corpus.
func endings(t *testing.T, each func(label, text string)) {
	t.Helper()
	f, err := os.Open("testdata/endings.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if label, text, ok := strings.Cut(lines.Text(), "\t"); ok && !strings.HasPrefix(label, "#") {
			each(label, text)
		}
	}
}

// A-CLAIM-6, P-TRUE-2: of the labelled endings, none is flagged when the work behind
// it was done; without any work, every claim that was found is unsupported; when
// files changed after the work, what a run stood behind is stale.
func TestEndingsInEachState(t *testing.T) {
	t.Parallel()
	done := []Receipt{ran(0, "python3 gen.py"), ran(0, "go test ./..."), ran(0, "go build ./..."), ran(0, "git commit -m x"), ran(0, "git push"),
		ran(0, "kubectl apply -f x"), ran(0, "gh pr create"), ran(0, "git status")}
	since := append(append([]Receipt(nil), done...), edited("late.go"))
	alarms, total, bare, stale := 0, 0, 0, 0
	endings(t, func(label, text string) {
		total++
		if found := Judge(text, done); len(found) > 0 {
			alarms++
			t.Logf("flagged though it was done: %q: %s", text, found[0])
		}
		for _, f := range Judge(text, nil) {
			bare++
			if f.Verdict != Unsupported || f.Contradicted {
				t.Errorf("%q without any work is %v", text, f)
			}
		}
		for _, f := range Judge(text, since) {
			stale++
			if f.Verdict != Stale {
				t.Errorf("%q after a late edit is %v", text, f)
			}
		}
	})
	if alarms > 0 || total < 200 {
		t.Errorf("%d false alarms on %d endings", alarms, total)
	}
	if bare < 100 || stale < 40 {
		t.Errorf("%d unsupported and %d stale findings: the corpus says too little", bare, stale)
	}
}
