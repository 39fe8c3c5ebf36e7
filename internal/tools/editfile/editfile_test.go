package editfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/readfile"
	"car/internal/tools/tooltest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	h.Put(t, "a.txt", "one\ntwo\nthree\n")
	h.Must(t, readfile.New(tool.Bindings{}), map[string]any{"path": "a.txt"})
	two := []any{map[string]any{"old_text": "one", "new_text": "1"}, map[string]any{"old_text": "two", "new_text": "2", "replace_all": true}}
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{}), House: h,
		Good: []map[string]any{{"path": "a.txt", "edits": two}, {"path": "a.txt", "old_text": "three", "new_text": ""}},
		Bad: []map[string]any{
			{}, {"path": "a.txt"}, {"path": "a.txt", "old_text": "x"}, {"path": "a.txt", "new_text": "x"}, {"path": "", "old_text": "x", "new_text": "y"},
			{"path": "a.txt", "old_text": "", "new_text": "y"}, {"path": "a.txt", "old_text": "x", "new_text": "x"}, {"path": "a.txt", "edits": []any{}},
			{"path": "a.txt", "edits": two, "old_text": "x", "new_text": "y"}, {"path": "a.txt", "edits": []any{map[string]any{"old_text": "x"}}},
			{"path": "a.txt", "old_text": "x", "new_text": "y", "replace_all": 1.0},
		},
	})
}

type room struct {
	*tooltest.House
	ef, rf tool.Tool
}

func bench(t *testing.T) room {
	t.Helper()
	t.Parallel()
	return room{tooltest.Open(t, time.Now), New(tool.Bindings{}), readfile.New(tool.Bindings{})}
}

// seen puts a file there and reads it.
func (r room) seen(t *testing.T, name, content string) {
	t.Helper()
	r.Put(t, name, content)
	r.Must(t, r.rf, map[string]any{"path": name})
}

func swap(path, from, to string) map[string]any {
	return map[string]any{"path": path, "old_text": from, "new_text": to}
}

// B027, T-FILE-11: bytes that are not edited do not change.
func TestB027MixedEndings(t *testing.T) {
	r := bench(t)
	r.seen(t, "f", "one\r\ntwo\nthree")
	r.Must(t, r.ef, swap("f", "three", "THREE"))
	if got := r.Get(t, "f"); got != "one\r\ntwo\nTHREE" {
		t.Errorf("got %q", got)
	}
	for name, c := range map[string]struct{ before, old, now, after string }{
		"crlf, edited with LF":   {"a\r\nb\r\nc\r\n", "a\nb\n", "A\nb\nnew\n", "A\r\nb\r\nnew\r\nc\r\n"},
		"crlf in the parameters": {"a\r\nb\r\n", "a\r\nb", "a\r\nB", "a\r\nB\r\n"},
		"bom":                    {"\xef\xbb\xbfa\nb\n", "a", "A", "\xef\xbb\xbfA\nb\n"},
		"utf-16":                 {"\xff\xfea\x00\r\x00\n\x00b\x00", "b", "é", "\xff\xfea\x00\r\x00\n\x00\xe9\x00"},
		"latin-1":                {"caf\xe9\nx\n", "x", "ü", "caf\xe9\n\xfc\n"},
		"bare CR data":           {"a\rb\nc\n", "c", "C", "a\rb\nC\n"},
		"no final newline stays": {"a\nb", "a", "A", "A\nb"},
	} {
		r.seen(t, "g", c.before)
		r.Must(t, r.ef, swap("g", c.old, c.now))
		if got := r.Get(t, "g"); got != c.after {
			t.Errorf("%s: got %q, want %q", name, got, c.after)
		}
	}
	r.seen(t, "l1", "caf\xe9\n")
	r.Fails(t, r.ef, swap("l1", "café", "漢"), tool.Unsupported, "U+6F22")
	r.Put(t, "odd", "caf\xe9\x81\n")
	r.Fails(t, r.ef, swap("odd", "caf", "x"), tool.Unsupported, "encoding")
}

// T-FILE-9: not without a read of this session, by whatever name.
func TestEditNeedsARead(t *testing.T) {
	r := bench(t)
	r.Put(t, "f.txt", "a\nb\na\n")
	r.Link(t, "f.txt", "alias")
	r.Fails(t, r.ef, swap("f.txt", "b", "B"), tool.Stale, "before editing it")
	other := r.Seen
	r.Seen = tooltest.NewLedger()
	r.Must(t, r.rf, map[string]any{"path": "f.txt"})
	r.Seen = other
	r.Fails(t, r.ef, swap("f.txt", "b", "B"), tool.Stale, "before editing it")
	r.Must(t, r.rf, map[string]any{"path": "alias", "limit": 1.0})
	r.Must(t, r.ef, swap("./f.txt", "b", "B"))
	r.Fails(t, r.ef, map[string]any{"path": "f.txt", "old_text": "a", "new_text": "A", "replace_all": true}, tool.Stale, "read all of")
	r.Must(t, r.rf, map[string]any{"path": "f.txt"})
	out := r.Must(t, r.ef, map[string]any{"path": "f.txt", "old_text": "a", "new_text": "A", "replace_all": true})
	if out["replacements"] != 2.0 || r.Get(t, "f.txt") != "A\nB\nA\n" {
		t.Errorf("got %v %q", out, r.Get(t, "f.txt"))
	}
	r.Fails(t, r.ef, swap("none.txt", "a", "b"), tool.NotFound, "no such file")
	r.Put(t, "pic.png", "\x89PNG\r\n\x1a\n\x00")
	r.Fails(t, r.ef, swap("pic.png", "a", "b"), tool.Unsupported, "binary")
}

// T-FILE-16, T-FILE-18: what comes back.
func TestResult(t *testing.T) {
	r := bench(t)
	r.seen(t, "f", strings.Repeat("x\n", 20)+"target\n"+strings.Repeat("y\n", 20))
	out := r.Must(t, r.ef, swap("f", "target", "one\ntwo"))
	if out["replacements"] != 1.0 || !strings.Contains(out["diff"].(string), "-target\n+one\n+two\n") {
		t.Errorf("got %v", out)
	}
	want := "    17\tx\n    18\tx\n    19\tx\n    20\tx\n    21\tone\n    22\ttwo\n    23\ty\n    24\ty\n    25\ty\n    26\ty\n"
	if out["snippet"] != want {
		t.Errorf("snippet\n%s", out["snippet"])
	}
}

// T-FILE-16: several matches are named, and nothing is guessed.
func TestAmbiguous(t *testing.T) {
	r := bench(t)
	r.seen(t, "f", strings.Repeat("dup\nother\n", 12))
	r.Fails(t, r.ef, swap("f", "dup", "x"), tool.BadArgs, "12 times", "lines 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, …", "replace_all")
	r.Fails(t, r.ef, swap("f", "dup", "dup"), tool.BadArgs, "same")
	r.seen(t, "aa", "aaaa")
	out := r.Must(t, r.ef, map[string]any{"path": "aa", "old_text": "aa", "new_text": "b", "replace_all": true})
	if out["replacements"] != 2.0 || r.Get(t, "aa") != "bb" {
		t.Errorf("got %v %q", out, r.Get(t, "aa"))
	}
}

// T-FILE-16: several edits are all or none, each seeing what those before it made.
func TestEditsAreAllOrNone(t *testing.T) {
	r := bench(t)
	r.seen(t, "f", "a\nb\n")
	e := func(old, now string) any { return map[string]any{"old_text": old, "new_text": now} }
	r.Fails(t, r.ef, map[string]any{"path": "f", "edits": []any{e("a", "A"), e("zzz", "x")}}, tool.BadArgs, "edit 2 of 2: ")
	if r.Get(t, "f") != "a\nb\n" {
		t.Fatal("half of the edits were applied")
	}
	out := r.Must(t, r.ef, map[string]any{"path": "f", "edits": []any{e("a", "A\nc"), e("c\nb", "C")}})
	if out["replacements"] != 2.0 || r.Get(t, "f") != "A\nC\n" {
		t.Errorf("got %v %q", out, r.Get(t, "f"))
	}
	r.Fails(t, r.ef, map[string]any{"path": "f", "edits": []any{e("A", "B"), e("B", "A")}}, tool.BadArgs, "cancel out")
}

// T-FILE-17: the cause is named and the lines that would match are shown.
func TestMismatchNamesTheCause(t *testing.T) {
	r := bench(t)
	for _, c := range []struct{ name, file, old, says, lines string }{
		{"numbers", "func a() {\n\treturn\n}\n", "     1\tfunc a() {\n     2\t\treturn\n", "line numbers", "     1\tfunc a() {\n     2\t\treturn\n"},
		{"escapes", "x\nsay(\"hi\")\n\tgo()\n", `say(\"hi\")\n\tgo()`, "JSON escapes", "     2\tsay(\"hi\")\n     3\t\tgo()\n"},
		{"trailing", "a  \nb\n", "a\nb\n", "line ends differ", "     1\ta  \n     2\tb\n"},
		{"tabs", "x\n\tif a {\n\t\tb()\n", "    if a {\n        b()", "tabs and spaces", "     2\t\tif a {\n     3\t\t\tb()\n"},
		{"final newline", "a\nlast", "last\n", "no line end at its end", "     2\tlast\n"},
		{"quotes", "say “hello” — now\n", `say "hello" - now`, "look alike", "     1\tsay “hello” — now\n"},
		{"nbsp", "a\u00a0b c\n", "a b c", "look alike", "     1\ta\u00a0b c\n"},
		{"cyrillic", "сonst x\n", "const x", "look alike", "     1\tсonst x\n"},
		{"nfd", "cafe\u0301 noir\n", "café noir", "", ""},
		{"case", "SELECT Name\n", "select name", "letter case", "     1\tSELECT Name\n"},
	} {
		r.seen(t, "f", c.file)
		f := r.Fails(t, r.ef, swap("f", c.old, "NEW"), tool.BadArgs, c.says, "othing was changed")
		if got := f.Output.(map[string]any)["lines"]; c.lines != "" && got != c.lines {
			t.Errorf("%s: shows %q, want %q", c.name, got, c.lines)
		}
		if r.Get(t, "f") != c.file {
			t.Fatalf("%s: applied by guess", c.name)
		}
	}
	r.seen(t, "f", "the ﬁle\n")
	r.Fails(t, r.ef, swap("f", "the file", "x"), tool.BadArgs, "look alike")
}

// T-FILE-17: else the most similar lines with the first difference, if any are similar.
func TestMismatchShowsTheMostSimilarLines(t *testing.T) {
	r := bench(t)
	r.seen(t, "f", "package x\n\nfunc total(items []Item) int {\n\tsum := 0\n\tfor _, it := range items {\n\t\tsum += it.Price\n\t}\n\treturn sum\n}\n")
	f := r.Fails(t, r.ef, swap("f", "func total(items []Item) int {\n\tsum := 0\n\tfor _, i := range items {\n\t\tsum += i.Price\n", "x"), tool.BadArgs, "line 5, character 10", `"t := range items {"`)
	if got := f.Output.(map[string]any)["lines"].(string); !strings.HasPrefix(got, "     3\tfunc total") || strings.Count(got, "\n") != 4 {
		t.Errorf("shows %q", got)
	}
	f = r.Fails(t, r.ef, swap("f", "\tsum := 1\n", "x"), tool.BadArgs, "line 4")
	if f.Output == nil {
		t.Error("no lines shown")
	}
	f = r.Fails(t, r.ef, swap("f", "something entirely different 12345", "x"), tool.BadArgs, "nor anything like it", "grep_files")
	if f.Output != nil {
		t.Errorf("shows %v", f.Output)
	}
}

// B029, T-FILE-8: a changed file is refused with the diff, and the diff counts
// as a reading for a targeted edit.
func TestB029StaleEditShowsTheDiff(t *testing.T) {
	r := bench(t)
	r.seen(t, "menu.txt", "soup\nbread\n")
	r.Put(t, "menu.txt", "soup\ncake\n")
	f := r.Fails(t, r.ef, swap("menu.txt", "soup", "stew"), tool.Stale, "changed since it was read")
	if diff := f.Output.(map[string]any)["diff"].(string); !strings.Contains(diff, "-bread\n+cake\n") {
		t.Errorf("got %v", f.Output)
	}
	r.Must(t, r.ef, swap("menu.txt", "soup", "stew"))
	if got := r.Get(t, "menu.txt"); got != "stew\ncake\n" {
		t.Errorf("got %q", got)
	}
	r.seen(t, "long.txt", strings.Repeat("a\n", 100))
	r.Put(t, "long.txt", strings.Repeat("b\n", 100))
	f = r.Fails(t, r.ef, swap("long.txt", "b", "c"), tool.Stale, "Read it again")
	if diff := f.Output.(map[string]any)["diff"].(string); strings.Count(diff, "\n") > 41 || !strings.Contains(diff, "more lines of diff") {
		t.Errorf("got %v", f.Output)
	}
	r.Fails(t, r.ef, swap("long.txt", "b", "c"), tool.Stale, "Read it again")
}

// T-FILE-8, edges: a formatter that rewrites the same bytes on save changes nothing.
func TestSameBytesAreFresh(t *testing.T) {
	r := bench(t)
	r.seen(t, "f.txt", "a\nb\n")
	r.Put(t, "tmp", "a\nb\n")
	if err := os.Rename(filepath.Join(r.Root, "tmp"), filepath.Join(r.Root, "f.txt")); err != nil {
		t.Fatal(err)
	}
	r.Must(t, r.ef, swap("f.txt", "a", "A"))
}

// B025: nothing is edited outside the root.
func TestB025EditThroughALinkThatLeaves(t *testing.T) {
	r := bench(t)
	path := filepath.Join(r.Outside, "b.txt")
	os.WriteFile(path, []byte("far\n"), 0o644)
	r.Link(t, "../outside", "outbox")
	r.Fails(t, r.ef, swap("outbox/b.txt", "far", "x"), tool.Denied, "outside the working directory")
	r.ReadOutside = true
	r.Must(t, r.rf, map[string]any{"path": "outbox/b.txt"})
	r.Fails(t, r.ef, swap("outbox/b.txt", "far", "x"), tool.Denied, "outside the working directory")
	if data, _ := os.ReadFile(path); string(data) != "far\n" {
		t.Errorf("got %q", data)
	}
}

// P-GUARD-2: the preview is the diff that would be made.
func TestPreview(t *testing.T) {
	r := bench(t)
	r.seen(t, "f", "a\nb\n")
	blocks, err := r.ef.(tool.Previewer).Preview(t.Context(), tool.Call{Params: swap("f", "b", "B")}, r.Env().Files)
	if err != nil || len(blocks) != 1 || blocks[0].Kind != ir.BlockDiff || !strings.Contains(blocks[0].Text, "-b\n+B\n") || r.Get(t, "f") != "a\nb\n" {
		t.Errorf("%+v %v", blocks, err)
	}
}

// A search for similar lines in a large file stays quick.
func TestSimilarIsBounded(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for range 200_000 {
		b.WriteString("a line that resembles the others of this file in most of its letters\n")
	}
	began := time.Now()
	similar(b.String(), strings.Repeat("a line that resembles the others of this text in most of its letters\n", 50))
	if d := time.Since(began); d > 3*time.Second {
		t.Errorf("took %v", d)
	}
}
