package dispatch

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"car/internal/engine/policy"
)

// P-WORK-1: which git commands lose what no commit holds, by their parsed words.
func TestLossOf(t *testing.T) {
	t.Parallel()
	tracked, untracked, ignored := loss{tracked: true}, loss{untracked: true}, loss{untracked: true, ignored: true}
	for _, c := range []struct {
		words []string
		want  loss
	}{
		{[]string{"git", "reset", "--hard"}, tracked}, {[]string{"git", "reset", "HEAD~1"}, loss{}}, {[]string{"git", "reset"}, loss{}},
		{[]string{"git", "checkout", "--", "a"}, tracked}, {[]string{"git", "checkout", "."}, tracked}, {[]string{"git", "checkout", "-f", "main"}, tracked},
		{[]string{"git", "checkout", "main"}, loss{}}, {[]string{"git", "switch", "--discard-changes", "x"}, tracked}, {[]string{"git", "switch", "-c", "x"}, loss{}},
		{[]string{"git", "restore", "a"}, tracked}, {[]string{"git", "restore", "--staged", "a"}, loss{}}, {[]string{"git", "restore", "-S", "-W", "a"}, tracked},
		{[]string{"git", "rebase", "main"}, tracked}, {[]string{"git", "rebase", "--abort"}, loss{}},
		{[]string{"git", "clean", "-fd"}, untracked}, {[]string{"git", "clean", "-fdx"}, ignored}, {[]string{"git", "clean", "-n"}, loss{}},
		{[]string{"git", "stash", "drop"}, loss{stash: true}}, {[]string{"git", "stash", "clear"}, loss{stash: true}}, {[]string{"git", "stash"}, loss{}}, {[]string{"git", "stash", "pop"}, loss{}},
		{[]string{"git", "branch", "-D", "a", "b"}, loss{branches: []string{"a", "b"}}}, {[]string{"git", "branch", "a"}, loss{}},
		{[]string{"git", "status"}, loss{}}, {[]string{"git"}, loss{}}, {[]string{"rm", "--hard"}, loss{}},
	} {
		if diff := cmp.Diff(c.want, lossOf(policy.Program{Words: c.words}), cmp.AllowUnexported(loss{})); diff != "" {
			t.Errorf("%q: %s", c.words, diff)
		}
	}
	if got := lossOf(policy.Program{Words: []string{"git", "reset", "--hard"}, Remote: true}); !got.empty() {
		t.Error("another machine's work is not ours to list")
	}
	if all := lossesOf(policy.Judgement{Deletes: true, Targets: []string{"sub/.git"}}); len(all) != 1 || !all[0].repo {
		t.Errorf("deleting a repository loses %+v", all)
	}
}
