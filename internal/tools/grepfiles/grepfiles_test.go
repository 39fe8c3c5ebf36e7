package grepfiles

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"car/internal/engine/tool"
	"car/internal/tools/tooltest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	h.Put(t, "d/f.go", "one\ntwo\n")
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{}), House: h,
		Good: []map[string]any{
			{"pattern": "one|two"}, {"pattern": "--pre=./x", "path": "."}, {"pattern": "(", "literal": true, "ignore_case": true, "context": 5.0, "limit": 1.0},
			{"pattern": "o", "files_only": true, "glob": "!*.md", "path": "d/f.go"},
		},
		Bad: []map[string]any{
			{}, {"pattern": ""}, {"pattern": "("}, {"pattern": "(?=x)"}, {"pattern": "x", "path": ""}, {"pattern": "x", "glob": "[a"}, {"pattern": "x", "context": 6.0},
			{"pattern": "x", "limit": 201.0}, {"pattern": "a\nb", "literal": true}, {"pattern": 1.0},
		},
	})
}

func bench(t *testing.T) (*tooltest.House, tool.Tool) {
	t.Helper()
	t.Parallel()
	return tooltest.Open(t, time.Now), New(tool.Bindings{})
}

// lines joins the matches of an answer.
func lines(out map[string]any) string {
	var s []string
	for _, m := range out["matches"].([]any) {
		m := m.(map[string]any)
		s = append(s, fmt.Sprintf("%v:%v:%v", m["path"], m["line"], m["text"]))
	}
	return strings.Join(s, "|")
}

// B081, P-TRUE-5: "no match" and "not looked at" are different answers, and a
// file that is named is searched though ignored.
func TestB081IgnoredFiles(t *testing.T) {
	h, gf := bench(t)
	h.Put(t, ".gitignore", "gen/*\n")
	h.Put(t, "gen/api.go", "type Zebra struct{}\n")
	h.Put(t, "main.go", "package main\n")
	out := h.Must(t, gf, map[string]any{"pattern": "Zebra"})
	if lines(out) != "" || out["total"] != 0.0 || out["not_looked_at"].(map[string]any)["ignored_files"] != 1.0 {
		t.Errorf("first search: %v", out)
	}
	out = h.Must(t, gf, map[string]any{"pattern": "Zebra", "path": "gen/api.go"})
	if lines(out) != "gen/api.go:1:type Zebra struct{}" || out["not_looked_at"] != nil {
		t.Errorf("the named file: %v", out)
	}
	out = h.Must(t, gf, map[string]any{"pattern": "Zebra", "glob": "*.md"})
	if out["total"] != 0.0 || out["files_searched"] != 0.0 {
		t.Errorf("a glob without files: %v", out)
	}
}

// T-FILE-19, T-FILE-20: what is not searched is counted by its reason.
func TestWhatIsNotLookedAt(t *testing.T) {
	h, gf := bench(t)
	h.Put(t, "a.bin", "key\x00key")
	h.Put(t, "big.txt", strings.Repeat("key\n", fileBytes/4+1))
	h.Put(t, ".env", "key=1")
	h.Put(t, "tls.PEM", "key")
	h.Put(t, "id.key", "key")
	h.Put(t, "ok.txt", "key\n")
	h.Put(t, "skip/.gitignore", "*\n")
	h.Put(t, "skip/x", "key")
	h.Link(t, "ok.txt", "link.txt")
	h.Link(t, ".", "loop")
	out := h.Must(t, gf, map[string]any{"pattern": "key"})
	want := map[string]float64{"binary": 1, "too_large": 1, "secret": 3, "links": 2, "ignored_files": 2}
	skipped := out["not_looked_at"].(map[string]any)
	for reason, n := range want {
		if skipped[reason] != n {
			t.Errorf("%s: got %v, want %v", reason, skipped[reason], n)
		}
	}
	if lines(out) != "ok.txt:1:key" || out["files_searched"] != 1.0 {
		t.Errorf("got %v", out)
	}
	h.Fails(t, gf, map[string]any{"pattern": "key", "path": ".env"}, tool.Denied, "secrets")
}

// T-FILE-20: RE2 by line, whatever ends and encodes the lines.
func TestMatching(t *testing.T) {
	h, gf := bench(t)
	h.Put(t, "crlf.txt", "alpha\r\nbeta\r\n")
	h.Put(t, "utf16.txt", "\xff\xfeg\x00a\x00m\x00m\x00a\x00\n\x00")
	h.Put(t, "latin.txt", "caf\xe9 noir\n")
	h.Put(t, "bom.txt", "\xef\xbb\xbfdelta\n")
	h.Put(t, "open.txt", "x\n\nlast")
	for _, c := range []struct {
		params map[string]any
		want   string
	}{
		{map[string]any{"pattern": "a$"}, "bom.txt:1:delta|crlf.txt:1:alpha|crlf.txt:2:beta|utf16.txt:1:gamma"},
		{map[string]any{"pattern": "^delta"}, "bom.txt:1:delta"},
		{map[string]any{"pattern": "café"}, "latin.txt:1:café noir"},
		{map[string]any{"pattern": `\Abeta\z`}, "crlf.txt:2:beta"},
		{map[string]any{"pattern": `alpha\s+beta`}, ""},
		{map[string]any{"pattern": `(?s)alpha.*beta`}, ""},
		{map[string]any{"pattern": `x[^y]*last`}, ""},
		{map[string]any{"pattern": "BETA", "ignore_case": true}, "crlf.txt:2:beta"},
		{map[string]any{"pattern": "a.p", "literal": true}, ""},
		{map[string]any{"pattern": "^$", "path": "open.txt"}, "open.txt:2:"},
		{map[string]any{"pattern": "last$", "path": "open.txt"}, "open.txt:3:last"},
		{map[string]any{"pattern": "x*", "path": "open.txt"}, "open.txt:1:x|open.txt:2:|open.txt:3:last"},
		{map[string]any{"pattern": "Noir", "literal": true, "ignore_case": true}, "latin.txt:1:café noir"},
		{map[string]any{"pattern": "a", "glob": "{bom,utf16}.*"}, "bom.txt:1:delta|utf16.txt:1:gamma"},
		{map[string]any{"pattern": "a", "glob": "!*f*"}, "bom.txt:1:delta|latin.txt:1:café noir|open.txt:3:last"},
	} {
		if got := lines(h.Must(t, gf, c.params)); got != c.want {
			t.Errorf("%v: got %q, want %q", c.params, got, c.want)
		}
	}
}

func TestContextClipsAndFilesOnly(t *testing.T) {
	h, gf := bench(t)
	h.Put(t, "a.txt", "1\n2\nhit\n4\n5\nhit\n")
	h.Put(t, "long.txt", strings.Repeat("ä", 5000)+"needle"+strings.Repeat("ö", 5000)+"\n")
	out := h.Must(t, gf, map[string]any{"pattern": "hit", "context": 2.0})
	first := out["matches"].([]any)[0].(map[string]any)
	second := out["matches"].([]any)[1].(map[string]any)
	if fmt.Sprint(first["before"], first["after"], second["before"], second["after"]) != "[1 2] [4 5] [4 5] <nil>" {
		t.Errorf("got %v and %v", first, second)
	}
	text := h.Must(t, gf, map[string]any{"pattern": "needle"})["matches"].([]any)[0].(map[string]any)["text"].(string)
	if n := utf8.RuneCountInString(text); n > maxChars+2 || !strings.Contains(text, "needle") || !utf8.ValidString(text) {
		t.Errorf("clipped to %d characters: %.40q", n, text)
	}
	out = h.Must(t, gf, map[string]any{"pattern": "hit|needle", "files_only": true})
	if out["total"] != 2.0 || out["matches"] != nil || fmt.Sprint(out["files"]) != "[map[count:2 path:a.txt] map[count:1 path:long.txt]]" {
		t.Errorf("got %v", out)
	}
}

// T-FILE-20: a bad pattern says where, and what RE2 lacks.
func TestBadPatterns(t *testing.T) {
	h, gf := bench(t)
	h.Fails(t, gf, map[string]any{"pattern": "ab(c"}, tool.BadArgs, "missing closing )")
	h.Fails(t, gf, map[string]any{"pattern": "föö[z-a]"}, tool.BadArgs, "at character 5", "z-a")
	h.Fails(t, gf, map[string]any{"pattern": "a(?=b)"}, tool.BadArgs, "look-around", "character 2")
	h.Fails(t, gf, map[string]any{"pattern": "(?<!x)y"}, tool.BadArgs, "look-around")
	h.Fails(t, gf, map[string]any{"pattern": `(a)\1`}, tool.BadArgs, "back-references")
}

// T-FILE-19, T-REND-3: bounds with the real total, in one order whatever the workers do.
func TestBoundsAndOrder(t *testing.T) {
	h, gf := bench(t)
	var want []string
	for i := range 300 {
		name := fmt.Sprintf("d%02d/f%03d.txt", i%30, i)
		h.Put(t, name, strings.Repeat("filler\n", i*20)+"needle\n")
	}
	for d := range 30 {
		for i := d; i < 300; i += 30 {
			want = append(want, fmt.Sprintf("d%02d/f%03d.txt:%d:needle", d, i, i*20+1))
		}
	}
	for range 3 {
		out := h.Must(t, gf, map[string]any{"pattern": "needle"})
		if lines(out) != strings.Join(want[:200], "|") || out["total"] != 300.0 || out["truncated"] != true || out["files_searched"] != 300.0 {
			t.Fatalf("got %v of %v\n%s", len(out["matches"].([]any)), out["total"], lines(out))
		}
	}
	h.Put(t, "wide.txt", strings.Repeat("needle "+strings.Repeat("w", 400)+"\n", 150))
	out := h.Must(t, gf, map[string]any{"pattern": "needle", "path": "wide.txt"})
	if n := len(out["matches"].([]any)); n > 60 || n < 30 || out["total"] != 150.0 || out["note"] == nil {
		t.Errorf("wide: %d matches shown of %v", n, out["total"])
	}
}

// T-FILE-20: past its time it answers with what it has; outside it needs a right.
func TestPartialAndOutside(t *testing.T) {
	h, gf := bench(t)
	h.Put(t, "a.txt", "x\n")
	out := h.Must(t, grepFiles{budget: time.Nanosecond}, map[string]any{"pattern": "x"})
	if out["partial"] != true || out["truncated"] != true || !strings.Contains(out["note"].(string), "stopped") {
		t.Errorf("got %v", out)
	}
	os.WriteFile(filepath.Join(h.Outside, "o.txt"), []byte("x\n"), 0o644)
	h.Fails(t, gf, map[string]any{"pattern": "x", "path": "../outside"}, tool.Denied, "outside the working directory")
	h.Fails(t, gf, map[string]any{"pattern": "x", "path": "a.tx"}, tool.NotFound, `"a.txt"`)
	h.ReadOutside = true
	if out := h.Must(t, gf, map[string]any{"pattern": "x", "path": "../outside"}); lines(out) != "../outside/o.txt:1:x" || out["outside"] != true {
		t.Errorf("got %v", out)
	}
}
