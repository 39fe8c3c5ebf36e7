package findfiles

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
	h.Put(t, "d/f.go", "x")
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{}), House: h,
		Good: []map[string]any{{"pattern": "**/*.go"}, {"pattern": "$(id)*", "path": ".", "include_ignored": true, "limit": 3.0}},
		Bad: []map[string]any{
			{}, {"pattern": ""}, {"pattern": "[a"}, {"pattern": "../**/*.pem"}, {"pattern": "a/../../b"}, {"pattern": "/etc/*"}, {"pattern": "x", "path": ""},
			{"pattern": "x", "limit": 201.0}, {"pattern": 1.0},
		},
	})
}

func files(out map[string]any) string {
	var s []string
	for _, f := range out["files"].([]any) {
		s = append(s, f.(string))
	}
	return strings.Join(s, " ")
}

// T-FILE-20: doublestar globs, in order of paths.
func TestPatterns(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	ff := New(tool.Bindings{})
	for _, n := range []string{"main.go", "a/b/x.go", "a/y_test.go", "a/y.ts", "web/z.tsx", "-rf", "we ird[1].go", "A/Main.go", ".hidden/h.go"} {
		h.Put(t, n, "")
	}
	for pattern, want := range map[string]string{
		"*.go":              ".hidden/h.go A/Main.go a/b/x.go a/y_test.go main.go we ird[1].go",
		"**/*.go":           ".hidden/h.go A/Main.go a/b/x.go a/y_test.go main.go we ird[1].go",
		"a/**":              "a/b/x.go a/y.ts a/y_test.go",
		"a/*.{ts,go}":       "a/y.ts a/y_test.go",
		"./main.go":         "main.go",
		"**/{y,z}.{ts,tsx}": "a/y.ts web/z.tsx",
		"Main.go":           "A/Main.go",
		"-rf":               "-rf",
		`we ird\[1\].go`:    "we ird[1].go",
		"none/**/*.go":      "",
		"a/b/x.go":          "a/b/x.go",
		"[ab]/**/?.go":      "a/b/x.go",
		"$(id)*":            "",
	} {
		if got := files(h.Must(t, ff, map[string]any{"pattern": pattern})); got != want {
			t.Errorf("%q: got %q, want %q", pattern, got, want)
		}
	}
	if got := files(h.Must(t, ff, map[string]any{"pattern": "**/*.go", "path": "a"})); got != "a/b/x.go a/y_test.go" {
		t.Errorf("below a: %q", got)
	}
	if got := files(h.Must(t, ff, map[string]any{"pattern": "b/*.go", "path": h.Root + "/a"})); got != h.Root+"/a/b/x.go" {
		t.Errorf("absolute: %q", got)
	}
}

// P-TRUE-5, T-FILE-19: no match is not "not looked at".
func TestIgnoredIsCounted(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	ff := New(tool.Bindings{})
	h.Put(t, ".gitignore", "gen/*\n")
	h.Put(t, "gen/api.go", "")
	out := h.Must(t, ff, map[string]any{"pattern": "**/api.go"})
	if files(out) != "" || out["total"] != 0.0 || out["not_looked_at"].(map[string]any)["ignored_files"] != 1.0 {
		t.Errorf("got %v", out)
	}
	if out := h.Must(t, ff, map[string]any{"pattern": "**/api.go", "include_ignored": true}); files(out) != "gen/api.go" || out["not_looked_at"] != nil {
		t.Errorf("got %v", out)
	}
}

func TestBoundsAndFailures(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	ff := New(tool.Bindings{})
	for i := range 250 {
		h.Put(t, fmt.Sprintf("f%03d.txt", i), "")
	}
	out := h.Must(t, ff, map[string]any{"pattern": "*.txt"})
	if len(out["files"].([]any)) != 200 || out["total"] != 250.0 || out["truncated"] != true {
		t.Errorf("%d of %v", len(out["files"].([]any)), out["total"])
	}
	if out := h.Must(t, ff, map[string]any{"pattern": "*.txt", "limit": 3.0}); files(out) != "f000.txt f001.txt f002.txt" {
		t.Errorf("got %v", out)
	}
	h.Fails(t, ff, map[string]any{"pattern": "*", "path": "none"}, tool.NotFound, "no such file")
	h.Fails(t, ff, map[string]any{"pattern": "*", "path": "f000.txt"}, tool.BadArgs, "is a file")
	h.Fails(t, ff, map[string]any{"pattern": "../*"}, tool.BadArgs, "leaves the folder")
	h.Fails(t, ff, map[string]any{"pattern": "*", "path": "../outside"}, tool.Denied, "outside the working directory")
}

// T-FILE-20: past its time it answers with what it has, and says so.
func TestPartial(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	h.Put(t, "a", "")
	out := h.Must(t, findFiles{budget: time.Nanosecond}, map[string]any{"pattern": "*"})
	if out["partial"] != true || out["truncated"] != true || out["note"] == nil {
		t.Errorf("got %v", out)
	}
}
