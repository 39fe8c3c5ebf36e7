package readfile

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
	h.Put(t, "a.txt", "one\ntwo\n")
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{}), House: h,
		Good: []map[string]any{{"path": "a.txt"}, {"path": "a.txt", "offset": 2.0, "limit": 1.0}, {"path": "a.txt", "byte_offset": 1.0}},
		Bad: []map[string]any{
			{}, {"path": ""}, {"path": 1.0}, {"path": "a.txt", "offset": 0.0}, {"path": "a.txt", "limit": 1.5},
			{"path": "a.txt", "byte_offset": 1.0, "offset": 1.0},
		},
	})
}

func bench(t *testing.T) (*tooltest.House, tool.Tool) {
	t.Helper()
	t.Parallel()
	return tooltest.Open(t, time.Now), New(tool.Bindings{})
}

// numbered checks out the fields that say what was shown.
func shown(t *testing.T, out map[string]any, start, end, total int, truncated bool) {
	t.Helper()
	if out["start_line"] != float64(start) || out["end_line"] != float64(end) || out["total_lines"] != float64(total) || out["truncated"] != truncated {
		t.Errorf("got lines %v-%v of %v, truncated %v; want %d-%d of %d, %v", out["start_line"], out["end_line"], out["total_lines"], out["truncated"], start, end, total, truncated)
	}
}

// T-FILE-14: numbered lines, whole or by page, with the way to go on.
func TestPages(t *testing.T) {
	h, rf := bench(t)
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, "line %d\r\n", i+1)
	}
	h.Put(t, "long.txt", b.String())
	out := h.Must(t, rf, map[string]any{"path": "long.txt"})
	shown(t, out, 1, 2000, 5000, true)
	if out["next_offset"] != 2001.0 || out["eol"] != "crlf" || out["encoding"] != "utf-8" || out["bytes"] != float64(b.Len()) {
		t.Errorf("got %v", out)
	}
	content := out["content"].(string)
	if !strings.HasPrefix(content, "     1\tline 1\n     2\tline 2\n") || !strings.HasSuffix(content, "  2000\tline 2000\n") {
		t.Errorf("content begins %.40q", content)
	}
	out = h.Must(t, rf, map[string]any{"path": "./long.txt", "offset": 4999.0, "limit": 10.0})
	shown(t, out, 4999, 5000, 5000, false)
	if out["content"] != "  4999\tline 4999\n  5000\tline 5000\n" || out["next_offset"] != nil {
		t.Errorf("last page %v", out)
	}
	h.Fails(t, rf, map[string]any{"path": "long.txt", "offset": 5001.0}, tool.BadArgs, "past the end", "5000 lines")
}

// T-FILE-14: 48 KiB at a line border.
func TestCapIsAtALineBorder(t *testing.T) {
	h, rf := bench(t)
	h.Put(t, "wide.txt", strings.Repeat(strings.Repeat("x", 999)+"\n", 100))
	out := h.Must(t, rf, map[string]any{"path": "wide.txt"})
	content := out["content"].(string)
	end := int(out["end_line"].(float64))
	if len(content) > maxBytes || len(content) < maxBytes-1100 || !strings.HasSuffix(content, "x\n") || out["next_offset"] != float64(end+1) || out["truncated"] != true {
		t.Errorf("%d bytes, lines to %d, %v", len(content), end, out["next_offset"])
	}
}

// T-FILE-14: a clipped line is marked with the way to the rest, and content is
// never empty while truncated.
func TestLongLines(t *testing.T) {
	h, rf := bench(t)
	h.Put(t, "bundle.js", "short\n"+strings.Repeat("é", 3000)+"\nend\n")
	out := h.Must(t, rf, map[string]any{"path": "bundle.js"})
	shown(t, out, 1, 3, 3, true)
	content := out["content"].(string)
	if !strings.Contains(content, "1000 more characters, byte_offset 4006 shows them") {
		t.Errorf("no mark in %q", content[3990:])
	}
	out = h.Must(t, rf, map[string]any{"path": "bundle.js", "byte_offset": 4006.0})
	if got := out["content"].(string); !strings.HasPrefix(got, strings.Repeat("é", 1000)+"\nend\n") {
		t.Errorf("window %.30q", got)
	}
	h.Put(t, "one.json", "{"+strings.Repeat("ä", 60<<10)+"}")
	seen := ""
	for at := 0.0; ; {
		out := h.Must(t, rf, map[string]any{"path": "one.json", "byte_offset": at})
		seen += out["content"].(string)
		next, more := out["byte_offset"].(float64)
		if more != out["truncated"].(bool) || !utf8.ValidString(out["content"].(string)) {
			t.Fatalf("window at %v: %v", at, out["truncated"])
		}
		if !more {
			break
		}
		at = next
	}
	if seen != h.Get(t, "one.json") {
		t.Error("windows do not add up to the file")
	}
	out = h.Must(t, rf, map[string]any{"path": "one.json"})
	if out["content"] == "" || out["truncated"] != true || out["byte_offset"] == nil {
		t.Errorf("a first line over the cap: %v", out["byte_offset"])
	}
	h.Fails(t, rf, map[string]any{"path": "one.json", "byte_offset": 1e9}, tool.BadArgs, "past the end")
}

// T-FILE-14: a missing file names the nearest three, by case, Unicode form and spelling.
func TestMissingNamesTheNearest(t *testing.T) {
	h, rf := bench(t)
	for _, n := range []string{"src/README.md", "src/readme.txt", "src/cafe\u0301.md", "src/unrelated-thing.go"} {
		h.Put(t, n, "x")
	}
	h.Fails(t, rf, map[string]any{"path": "src/readme.md"}, tool.NotFound, "no such file", `did you mean "src/README.md", "src/readme.txt"?`)
	h.Fails(t, rf, map[string]any{"path": "src/café.md"}, tool.NotFound, `"src/cafe`+"\u0301"+`.md"`)
	h.Fails(t, rf, map[string]any{"path": "none/x.md"}, tool.NotFound, "the folder \"none/\" is not there either")
	h.Fails(t, rf, map[string]any{"path": "src/qqqqqqqqqqqq"}, tool.NotFound, "look with list_dir")
	h.Fails(t, rf, map[string]any{"path": "src"}, tool.Unsupported, "list_dir")
}

// T-FILE-10, T-FILE-12: other encodings are text, binaries are not.
func TestEncodingsAndBinaries(t *testing.T) {
	h, rf := bench(t)
	h.Put(t, "utf16.csproj", "\xff\xfe<\x00a\x00>\x00\n\x00")
	h.Put(t, "latin.c", "caf\xe9\n")
	h.Put(t, "bom.txt", "\xef\xbb\xbfx\n")
	h.Put(t, "odd.bin", "caf\xe9\x81\n")
	h.Put(t, "pic.png", "\x89PNG\r\n\x1a\n\x00\x01")
	h.Put(t, "empty", "")
	for path, want := range map[string]struct{ content, encoding string }{
		"utf16.csproj": {"     1\t<a>\n", "utf-16le"}, "latin.c": {"     1\tcafé\n", "windows-1252"}, "bom.txt": {"     1\tx\n", "utf-8-bom"},
		"odd.bin": {"     1\tcaf\uFFFD\n", "unknown"}, "empty": {"", "utf-8"},
	} {
		out := h.Must(t, rf, map[string]any{"path": path})
		if out["content"] != want.content || out["encoding"] != want.encoding {
			t.Errorf("%s: got %q %v", path, out["content"], out["encoding"])
		}
	}
	shown(t, h.Must(t, rf, map[string]any{"path": "empty"}), 0, 0, 0, false)
	out := h.Must(t, rf, map[string]any{"path": "pic.png"})
	if out["binary"] != true || out["type"] != "image/png" || out["bytes"] != 10.0 || len(out["sha256"].(string)) != 64 || out["content"] != nil {
		t.Errorf("binary: %v", out)
	}
}

// Edges: a 3 GB log is paged from disk, never loaded.
func TestHugeFileIsPagedFromDisk(t *testing.T) {
	h, rf := bench(t)
	path := h.Put(t, "huge.log", "")
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("y", 99) + "\n"
	block := strings.Repeat(line, 10_000)
	for range 12 {
		f.WriteString(block)
	}
	f.WriteString(strings.Repeat("z", 3<<20) + "\nlast")
	f.Close()
	out := h.Must(t, rf, map[string]any{"path": "huge.log", "offset": 119_999.0, "limit": 10.0})
	shown(t, out, 119_999, 120_002, 120_002, true)
	content := out["content"].(string)
	if !strings.Contains(content, "byte_offset 12000000 shows the line") || !strings.HasSuffix(content, "120002\tlast\n") || out["next_offset"] != nil {
		t.Errorf("got %.200q … %q", content, content[len(content)-80:])
	}
	out = h.Must(t, rf, map[string]any{"path": "huge.log"})
	if out["next_offset"] == nil || out["total_lines"] != 120_002.0 || len(out["content"].(string)) > maxBytes {
		t.Errorf("first page: next %v of %v", out["next_offset"], out["total_lines"])
	}
	out = h.Must(t, rf, map[string]any{"path": "huge.log", "byte_offset": 12_000_000.0})
	if got := out["content"].(string); !strings.HasPrefix(got, "zzz") || out["byte_offset"] != float64(12_000_000+windowBytes) {
		t.Errorf("window %.10q %v", got, out["byte_offset"])
	}
	h.Fails(t, rf, map[string]any{"path": "huge.log", "offset": 200_000.0}, tool.BadArgs, "120002 lines")
	h.Fails(t, rf, map[string]any{"path": "huge.log", "byte_offset": 1e10}, tool.BadArgs, "past the end")
	if err := os.Truncate(path, 3<<30); err != nil {
		t.Fatal(err)
	}
	out = h.Must(t, rf, map[string]any{"path": "huge.log", "limit": 5.0})
	if _, known := out["total_lines"]; known || out["next_offset"] != 6.0 {
		t.Errorf("sparse 3 GiB: %v lines, next %v", out["total_lines"], out["next_offset"])
	}
}

// T-FILE-7, T-FILE-9: what was shown is what counts as seen, by every name.
func TestReadingsAreNoted(t *testing.T) {
	h, rf := bench(t)
	h.Put(t, "f.txt", strings.Repeat("line\n", 10))
	h.Link(t, "f.txt", "link.txt")
	key := func() tool.Reading {
		info, err := h.Env().Files.Stat("./f.txt")
		if err != nil {
			t.Fatal(err)
		}
		r, _ := h.Seen.Lookup(info.Key)
		return r
	}
	h.Must(t, rf, map[string]any{"path": "f.txt", "limit": 4.0})
	if r := key(); r.Full || r.Lines != 4 || r.Digest == "" {
		t.Errorf("first page: %+v", r)
	}
	h.Must(t, rf, map[string]any{"path": "f.txt", "offset": 7.0, "limit": 2.0})
	if r := key(); r.Full || r.Lines != 4 {
		t.Errorf("a page with a gap: %+v", r)
	}
	h.Must(t, rf, map[string]any{"path": "link.txt", "offset": 5.0})
	if r := key(); !r.Full {
		t.Errorf("pages that join up: %+v", r)
	}
	h.Must(t, rf, map[string]any{"path": "f.txt", "limit": 1.0})
	if r := key(); !r.Full {
		t.Errorf("a page after the whole: %+v", r)
	}
	h.Put(t, "f.txt", "other\n"+strings.Repeat("line\n", 10))
	h.Must(t, rf, map[string]any{"path": "f.txt", "limit": 1.0})
	if r := key(); r.Full || r.Lines != 1 {
		t.Errorf("a page of a changed file: %+v", r)
	}
	h.Put(t, "f.txt", strings.Repeat("x", 3000))
	h.Must(t, rf, map[string]any{"path": "f.txt"})
	if r := key(); r.Full {
		t.Errorf("a clipped line counts as seen: %+v", r)
	}
}

// B025, T-FILE-2, T-FILE-3: a link that leaves the root shows nothing; one inside works.
func TestB025LinkThatLeavesTheRoot(t *testing.T) {
	h, rf := bench(t)
	os.WriteFile(filepath.Join(h.Outside, "b.txt"), []byte("far"), 0o644)
	h.Link(t, "../outside", "outbox")
	h.Put(t, "docs/in.txt", "near")
	h.Link(t, "docs", "inbox")
	h.Fails(t, rf, map[string]any{"path": "outbox/b.txt"}, tool.Denied, "outside the working directory")
	h.Fails(t, rf, map[string]any{"path": "../outside/b.txt"}, tool.Denied, "outside the working directory")
	if out := h.Must(t, rf, map[string]any{"path": "inbox/in.txt"}); out["content"] != "     1\tnear\n" {
		t.Errorf("got %v", out)
	}
	h.ReadOutside = true
	if out := h.Must(t, rf, map[string]any{"path": "outbox/b.txt"}); out["outside"] != true {
		t.Errorf("a permitted outside read is not marked: %v", out)
	}
}

// T-FILE-5: a secret file is not shown.
func TestSecretIsNotShown(t *testing.T) {
	h, rf := bench(t)
	h.Put(t, ".env", "KEY=value")
	h.Link(t, ".env", "settings.txt")
	f := h.Fails(t, rf, map[string]any{"path": "settings.txt"}, tool.Denied, "secrets")
	if strings.Contains(f.Text, "value") {
		t.Error("the refusal shows the secret")
	}
}
