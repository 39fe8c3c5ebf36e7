package project_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"car/internal/assistant/project"
	"car/internal/engine/ir"
)

// told is what a guide said, one line a file.
func told(h *house, found []project.Instruction) (out []string) {
	for _, i := range found {
		text := strings.ReplaceAll(strings.TrimSpace(i.Text), "\n", "|")
		line := strings.TrimPrefix(i.Path, h.top+"/") + ": " + text
		if i.Omitted > 0 {
			line += fmt.Sprintf(" (-%d)", i.Omitted)
		}
		out = append(out, line)
	}
	return out
}

func start(h *house, cwd string) (*project.Guide, []project.Instruction, []project.Skipped) {
	h.t.Helper()
	g := h.load(cwd).Guide()
	found, skipped, err := g.Start(h.t.Context())
	must(h.t, err)
	return g, found, skipped
}

func mustTell(h *house, found []project.Instruction, want ...string) {
	h.t.Helper()
	if got := told(h, found); fmt.Sprint(got) != fmt.Sprint(want) {
		h.t.Errorf("told:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A-CTX-1: the person's file, then root down to cwd, the first name of each folder,
// nearest last; deeper ones once, when they are touched.
func TestInstructionsFromTheRootDown(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{
		"home/.car/AGENTS.md": "mine", "home/AGENTS.md": "above the root", "home/.car/CLAUDE.md": "not a name there",
		"home/p/.git/HEAD": "", "home/p/AGENTS.md": "root", "home/p/CLAUDE.md": "second name",
		"home/p/a/CLAUDE.md": "a", "home/p/a/b/AGENTS.override.md": "b, over", "home/p/a/b/AGENTS.md": "b",
		"home/p/a/b/c/d/AGENTS.md": "d", "home/p/a/b/c/AGENTS.md": "c", "home/p/x/AGENTS.md": "x", "home/p/empty/AGENTS.md": " \n",
	})
	g, found, skipped := start(h, "home/p/a/b")
	mustTell(h, found, "home/.car/AGENTS.md: mine", "AGENTS.md: root", "a/CLAUDE.md: a", "a/b/AGENTS.override.md: b, over")
	if len(skipped) != 0 {
		t.Errorf("skipped %+v", skipped)
	}
	for _, step := range []struct {
		dir  string
		want []string
	}{
		{"home/p/a/b/c/d", []string{"a/b/c/AGENTS.md: c", "a/b/c/d/AGENTS.md: d"}},
		{"home/p/a/b/c", nil},
		{"home/p/a/b/c/d", nil},
		{"home/p/x/deep", []string{"x/AGENTS.md: x"}},
		{"home/p/empty", nil},
		{"home", nil},
		{"home/p2", nil},
	} {
		found, skipped, err := g.Below(t.Context(), h.path(step.dir))
		must(t, err)
		mustTell(h, found, step.want...)
		if len(skipped) != 0 {
			t.Errorf("%s: skipped %+v", step.dir, skipped)
		}
	}
}

// A-CTX-1: 32 KiB in all, the nearest kept first, every cut said, whole lines.
func TestInstructionsAreBounded(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	h := newHouse(t, map[string]string{
		"home/.car/AGENTS.md": "mine", "home/p/.git/HEAD": "",
		"home/p/AGENTS.md":       strings.Repeat(line, 100),
		"home/p/a/AGENTS.md":     strings.Repeat(line, 300),
		"home/p/a/b/c/AGENTS.md": "deep",
	})
	g, found, _ := start(h, "home/p/a")
	var sizes []string
	for _, i := range found {
		sizes = append(sizes, fmt.Sprintf("%d-%d", len(i.Text), i.Omitted))
		if i.Text != "" && !strings.HasSuffix(i.Text, "\n") && i.Omitted > 0 {
			t.Errorf("%s is cut within a line", i.Path)
		}
	}
	// 32,768 bytes: 30,000 for the nearest, 27 lines of the next, 64 left, which hold the last.
	if want := "[4-0 2700-7300 30000-0]"; fmt.Sprint(sizes) != want {
		t.Errorf("kept and cut: %v, want %s", sizes, want)
	}
	h.write("home/p/a/b/AGENTS.md", strings.Repeat("é", 500))
	found, _, err := g.Below(t.Context(), h.path("home/p/a/b/c"))
	must(t, err)
	if len(found) != 2 || found[1].Text != "deep" || found[0].Omitted != 1000-len(found[0].Text) || len(found[0].Text) > 60 || strings.Contains(found[0].Text, "\ufffd") {
		t.Errorf("below: %v", told(h, found))
	}
	h.write("home/p/z/AGENTS.md", strings.Repeat(line, 1000))
	_, found, _ = start(h, "home/p/z")
	if n := len(found) - 1; found[n].Omitted+len(found[n].Text) != 100_000 || len(found[n].Text) > 32<<10 || found[n-1].Omitted == 0 {
		t.Errorf("a large file: %d kept, %d cut", len(found[n].Text), found[n].Omitted)
	}
}

// A-CTX-1: imports stand in their place, stay inside the root, three deep; what
// was told already is not told again; code is left alone.
func TestImports(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{
		"home/p/.git/HEAD": "", "home/secret.md": "secret",
		"home/p/AGENTS.md":   "top\n@docs/one.md\nmail me@example.org\n@not a path\n```\n@docs/two.md\n```\nend",
		"home/p/docs/one.md": "one\n@two.md\n@../docs/one.md",
		"home/p/docs/two.md": "two\n@three.md\n", "home/p/docs/three.md": "three\n@four.md\n", "home/p/docs/four.md": "four",
		"home/p/a/CLAUDE.md":   "@../AGENTS.md\n",
		"home/p/a/b/AGENTS.md": "@../../../secret.md\n@/etc/hostname\n@~/x.md\n@gone.md\nb",
	})
	_, found, skipped := start(h, "home/p/a/b")
	mustTell(h, found, "AGENTS.md: top|one|two|three|mail me@example.org|@not a path|```|@docs/two.md|```|end", "a/b/AGENTS.md: b")
	var why []string
	for _, s := range skipped {
		why = append(why, strings.TrimPrefix(s.Path, h.top+"/")+" "+strings.Fields(s.Why)[1])
	}
	want := "[home/p/docs/four.md imported ../../../secret.md an /etc/hostname an ~/x.md an home/p/a/b/gone.md be]"
	if fmt.Sprint(why) != want {
		t.Errorf("skipped %v\nwant %s", why, want)
	}
}

// A-CTX-1, P-GUARD-5: links that lead out, pipes, folders and binaries are skipped
// and said, and the next name counts; one file under two names is told once.
func TestOddInstructionsAreSkipped(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{
		"home/p/.git/HEAD": "", "home/secret.md": "secret", "home/p/README.md": "readme",
		"home/p/a/CLAUDE.md": "a", "home/p/a/b/AGENTS.md/": "", "home/p/a/b/c/AGENTS.md": "x\x00y", "home/p/a/b/c/d/AGENTS.md": "\xff\xfe",
	})
	h.link("home/p/AGENTS.md", "README.md")
	h.link("home/p/a/AGENTS.md", "../../secret.md")
	makePipe(t, h.path("home/p/a/AGENTS.override.md"))
	h.link("home/p/a/b/CLAUDE.md", h.path("home/p/README.md"))
	h.link("home/p/a/b/c/CLAUDE.md", "../../../README.md")
	g, found, skipped := start(h, "home/p/a/b/c/d")
	mustTell(h, found, "AGENTS.md: readme", "a/CLAUDE.md: a")
	if _, again, err := g.Below(t.Context(), h.path("home/p/a/b/c/d")); err != nil || len(again) != 0 {
		t.Errorf("said again: %+v, %v", again, err)
	}
	var names []string
	for _, s := range skipped {
		names = append(names, strings.TrimPrefix(s.Path, h.path("home/p")+"/"))
	}
	want := "[a/AGENTS.override.md a/AGENTS.md a/b/AGENTS.md a/b/CLAUDE.md a/b/c/AGENTS.md a/b/c/d/AGENTS.md]"
	if fmt.Sprint(names) != want {
		t.Errorf("skipped %v\nwant %s", names, want)
	}
}

// G-INTENT-3, G-TRUST-2: an instruction file counts as trusted with its digest and
// that of all it imports; the person's own is.
func TestInstructionsOfAnUntrustedProjectAreSaid(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"home/.car/AGENTS.md": "mine", "home/p/.git/HEAD": "", "home/p/AGENTS.md": "a\n@b.md\n", "home/p/b.md": "b"})
	trusted := func() (out []bool) {
		_, found, _ := start(h, "home/p")
		for _, i := range found {
			out = append(out, i.Trusted)
		}
		return out
	}
	if got := trusted(); fmt.Sprint(got) != "[true false]" {
		t.Errorf("before trust: %v", got)
	}
	h.trustNow("home/p", "AGENTS.md")
	if got := trusted(); fmt.Sprint(got) != "[true false]" {
		t.Errorf("its import is not trusted: %v", got)
	}
	h.trustNow("home/p", "b.md")
	if got := trusted(); fmt.Sprint(got) != "[true true]" {
		t.Errorf("both trusted: %v", got)
	}
	_, found, _ := start(h, "home/p")
	if files := found[1].Files; len(files) != 2 || files[0].Name != "AGENTS.md" || files[1].Name != "b.md" || files[1].Root != h.path("home/p") {
		t.Errorf("made of %+v", files)
	}
	must(t, os.WriteFile(h.path("home/p/b.md"), []byte("changed"), 0o644))
	if got := trusted(); fmt.Sprint(got) != "[true false]" {
		t.Errorf("changed: %v", got)
	}
	h.cfg.Trust = func(context.Context, string, string, ir.Digest) (bool, bool, error) {
		return true, true, os.ErrDeadlineExceeded
	}
	if _, _, err := h.load("home/p").Guide().Start(t.Context()); err == nil {
		t.Error("trust that cannot be asked for is taken for an answer")
	}
}
