package listdir

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	h.Put(t, "d/f", "x")
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{}), House: h,
		Good: []map[string]any{{}, {"path": "d"}, {"path": ".", "depth": 3.0, "hidden": true}},
		Bad:  []map[string]any{{"path": ""}, {"path": 1.0}, {"depth": 4.0}, {"depth": 0.5}, {"hidden": "yes"}},
	})
}

// names joins the entries of an answer.
func names(out map[string]any) string {
	var s []string
	for _, e := range out["entries"].([]any) {
		e := e.(map[string]any)
		one := e["path"].(string) + ":" + e["type"].(string)
		if size, ok := e["size"].(float64); ok {
			one += fmt.Sprintf(":%v", size)
		}
		s = append(s, one)
	}
	return strings.Join(s, " ")
}

// T-FILE-19: order, types, sizes, depth, and what was left out.
func TestListing(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	ld := New(tool.Bindings{GlobalIgnore: "*.swp\n"})
	h.Put(t, ".gitignore", "node_modules/\n")
	h.Put(t, ".git/config", "")
	h.Put(t, "node_modules/x/y.js", "")
	h.Put(t, "src/a/b/c.go", "12345")
	h.Put(t, "src/z.go", "1")
	h.Put(t, "src/x.swp", "")
	h.Link(t, "../outside", "out")
	h.Link(t, "src", "cur")
	out := h.Must(t, ld, map[string]any{})
	if got := names(out); got != "cur:link out:link src:dir" || out["total"] != 3.0 || out["truncated"] != false {
		t.Errorf("got %s %v", got, out)
	}
	skipped := out["not_looked_at"].(map[string]any)
	if skipped["hidden"] != 1.0 || skipped["ignored_folders"] != 1.0 || skipped["ignored_names"].([]any)[0] != "node_modules" {
		t.Errorf("skipped %v", skipped)
	}
	if got := names(h.Must(t, ld, map[string]any{"path": "src", "depth": 2.0})); got != "src/a:dir src/a/b:dir src/z.go:file:1" {
		t.Errorf("depth 2: %s", got)
	}
	if got := names(h.Must(t, ld, map[string]any{"hidden": true})); !strings.HasPrefix(got, ".gitignore:file:14 cur:link") || strings.Contains(got, ".git:") {
		t.Errorf("hidden: %s", got)
	}
	if got := names(h.Must(t, ld, map[string]any{"path": "cur"})); got != "cur/a:dir cur/z.go:file:1" {
		t.Errorf("a link that is named: %s", got)
	}
	if out := h.Must(t, ld, map[string]any{"path": "src/a/b"}); out["not_looked_at"] != nil || names(out) != "src/a/b/c.go:file:5" {
		t.Errorf("nothing skipped: %v", out)
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	ld := New(tool.Bindings{})
	h.Put(t, "docs/f", "")
	h.Link(t, "../outside", "out")
	h.Fails(t, ld, map[string]any{"path": "dosc"}, tool.NotFound, `did you mean "docs"?`)
	h.Fails(t, ld, map[string]any{"path": "docs/f"}, tool.Unsupported, "not a folder")
	h.Fails(t, ld, map[string]any{"path": ".."}, tool.Denied, "outside the working directory")
	h.Fails(t, ld, map[string]any{"path": "out"}, tool.Denied, "outside the working directory")
}

// T-FILE-19, T-REND-3: bounded, with the real total and the way on.
func TestBounds(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	for i := range 700 {
		h.Put(t, fmt.Sprintf("f%04d", i), "")
	}
	out := h.Must(t, New(tool.Bindings{}), map[string]any{})
	shown := len(out["entries"].([]any))
	if shown > maxEntries || shown < 300 || out["total"] != 700.0 || out["truncated"] != true || out["note"] == nil {
		t.Errorf("shown %d of %v, truncated %v, note %v", shown, out["total"], out["truncated"], out["note"])
	}
}
