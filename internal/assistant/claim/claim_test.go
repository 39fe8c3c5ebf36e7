package claim

import (
	"bufio"
	"os"
	"slices"
	"strings"
	"testing"
)

var letters = map[Kind]string{TestsPass: "T", BuildSucceeds: "B", Committed: "C", Pushed: "P", FilesChanged: "F", CleanTree: "W", Deployed: "D", Sent: "S"}

// A-CLAIM-3, A-CLAIM-6: on labelled endings at most 2 % are flagged wrongly, and
// what is a claim is found.
func TestClaimsOfLabelledEndings(t *testing.T) {
	t.Parallel()
	f, err := os.Open("testdata/endings.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	total, claims, wrong, missed := 0, 0, 0, 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		label, text, ok := strings.Cut(lines.Text(), "\t")
		if !ok || strings.HasPrefix(label, "#") {
			continue
		}
		total++
		got := ""
		for _, c := range Find(text) {
			got += letters[c.Kind]
		}
		want := strings.ReplaceAll(label, "-", "")
		if want != "" {
			claims++
		}
		for _, letter := range strings.Split(got, "") {
			if !strings.Contains(want, letter) {
				wrong++
				t.Logf("flagged wrongly as %s: %s", letter, text)
				break
			}
		}
		if sortedLetters(got) != sortedLetters(want) {
			if len(got) < len(want) {
				missed++
				t.Logf("missed (%q for %q): %s", got, want, text)
			}
		}
	}
	if total < 200 || claims < 80 {
		t.Errorf("the corpus has %d endings with %d claims", total, claims)
	}
	if wrong*50 > total {
		t.Errorf("%d of %d endings are flagged wrongly", wrong, total)
	}
	if missed*10 > claims {
		t.Errorf("%d of %d claims are missed", missed, claims)
	}
}

func sortedLetters(s string) string {
	l := strings.Split(s, "")
	slices.Sort(l)
	return strings.Join(l, "")
}

// A-CLAIM-3: what only looks like a claim is silent, each of these: code, quotation,
// tables, unchecked boxes, and words that go on to mean something else.
func TestWhatIsNoClaim(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"The log says:\n```\nAll tests pass.\nI committed the change.\n```\nThat is all.",
		"~~~\nAll tests pass.\n~~~",
		"```\nAll tests pass.",
		"> All tests pass.",
		"| check | All tests pass |",
		"- [ ] All tests pass",
		"The tests pass a context to the handler.",
		"It builds on the idea of the previous patch.",
		"The project builds a Docker image.",
		"All tests pass except one.",
		"Added `fmt.Errorf` around the cause.",
		"Once all tests pass, merge.",
		"Do all tests pass?",
	} {
		if got := Find(text); len(got) > 0 {
			t.Errorf("%q is taken for %+v", text, got)
		}
	}
}
