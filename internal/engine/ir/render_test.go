package ir_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"car/internal/engine/ir"
)

// E-REND-2: the shape, piece by piece.
func TestRender(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 201)
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"a string as it is", "a\n\"b\" <c>", "a\n\"b\" <c>"},
		{"null", nil, "null"},
		{"number", 1.5, "1.5"},
		{"a Go number", 3, "3"},
		{"list", []any{1.0, "<a>", nil, map[string]any{"b": true, "a": []any{}}}, `[1,"<a>",null,{"a":[],"b":true}]`},
		{"empty object", map[string]any{}, ""},
		{"groups in order", map[string]any{
			"z": 1.0, "a": "text", "body": "two\nlines", "exit_code": 1.0, "error": "bad", "truncated": true, "long": long,
			"ok": false, "status": "done", "timed_out": false, "list": []any{"x"}, "rows": []any{map[string]any{"p": "q"}},
		}, "error: bad\nexit_code: 1\nok: false\nstatus: done\ntimed_out: false\ntruncated: true\n" +
			"a: text\nlist: [\"x\"]\nz: 1\n" +
			"body (9 bytes):\ntwo\nlines\nlong (201 bytes):\n" + long + "\nrows (1 records):\np=q"},
		{"200 bytes stay on a line", map[string]any{"k": long[1:]}, "k: " + long[1:]},
		{"bytes, not runes", map[string]any{"k": "é\n"}, "k (3 bytes):\né\n"},
		{"records", map[string]any{"m": []any{
			map[string]any{"line": 3.0, "path": "a b.go", "text": "x\ny"}, map[string]any{}, map[string]any{"k\n1": map[string]any{"n": nil}, "": "e"},
		}}, "m (3 records):\nline=3  path=a b.go  text=x\\ny\n\n=e  k\\n1={\"n\":null}"},
		{"an empty list is a line", map[string]any{"m": []any{}}, "m: []"},
		{"a mixed list is a line", map[string]any{"m": []any{map[string]any{}, 1.0}}, "m: [{},1]"},
		{"an object is a line", map[string]any{"m": map[string]any{"b": "x\ny", "a": 1.0}}, `m: {"a":1,"b":"x\ny"}`},
		{"a Go map and struct", map[string]any{"c": ir.ExitStatus{Code: 2}}, `c: {"code":2,"duration_ms":0}`},
		{"a typed map is an object", map[string]string{"ok": "yes"}, "ok: yes"},
		{"an outcome on one line", map[string]any{"error": "one\ntwo\n"}, `error: "one two "`},
		{"an outcome that is no scalar", map[string]any{"error": map[string]any{"code": 5.0}}, `error: {"code":5}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, ir.Render(c.value)); diff != "" {
				t.Errorf("rendered (-want +got):\n%s", diff)
			}
		})
	}
}

// E-REND-3: when raw text would read back as something else it is quoted.
func TestRenderQuotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": `""`, " x": `" x"`, "x\t": `"x\t"`, "null": `"null"`, "true": `"true"`, "12": `"12"`, "-1.5e3": `"-1.5e3"`, `"q"`: `"\"q\""`, "{}": `"{}"`, "[1]": `"[1]"`,
		"wrote (3 bytes):": `"wrote (3 bytes):"`, "x):": `"x):"`,
		"nulls": "nulls", "a b": "a b", "{x": "{x", "1 2": "1 2", `say "hi"`: `say "hi"`, "a: b": "a: b", "[FAILED] x": "[FAILED] x",
	} {
		if got := ir.Render(map[string]any{"k": text}); got != "k: "+want {
			t.Errorf("value %q is rendered %q, want %q", text, got, "k: "+want)
		}
	}
	for name, want := range map[string]string{
		"": `""`, "a b": `"a b"`, "a:": `"a:"`, "a: b": `"a: b"`, "k (x": `"k (x"`, "a\tb": `"a\tb"`, `"q`: `"\"q"`, "[x": `"[x"`, "…x": `"…x"`, "a\u00a0b": "\"a\u00a0b\"",
		"a:b": "a:b", "a(b": "a(b", "x[0]": "x[0]", "content-type": "content-type", "é": "é",
	} {
		if got := ir.Render(map[string]any{name: 1.0}); got != want+": 1" {
			t.Errorf("name %q is rendered %q, want %q", name, got, want+": 1")
		}
	}
}

// E-REND-1 and named behaviour "success as text with byte-counted block, JSON form
// kept, failure prefixed"; F-15 for what was rolled back.
func TestFormatResult(t *testing.T) {
	t.Parallel()
	file := map[string]any{"path": "a.py", "content": "x = \"1\"\ny = 2"}
	for _, c := range []struct {
		name       string
		result     ir.ActionResult
		text, json string
	}{
		{"success", ir.ActionResult{Status: ir.Succeeded, Output: file}, "path: a.py\ncontent (13 bytes):\nx = \"1\"\ny = 2", `{"content":"x = \"1\"\ny = 2","path":"a.py"}`},
		{"no output", ir.ActionResult{Status: ir.Succeeded}, "", ""},
		{"text", ir.ActionResult{Status: ir.Succeeded, Output: "written: k"}, "written: k", `"written: k"`},
		{"failed", ir.ActionResult{Status: ir.Failed, Error: "boom", Output: file}, "[FAILED] boom", "[FAILED] boom"},
		{"rejected", ir.ActionResult{Status: ir.Rejected, Error: "policy 'x': no"}, "[REJECTED] policy 'x': no", "[REJECTED] policy 'x': no"},
		{"skipped", ir.ActionResult{Status: ir.Skipped, Error: "canceled: stop"}, "[Skipped] canceled: stop", "[Skipped] canceled: stop"},
		{"unfinished", ir.ActionResult{Status: ir.Executing}, "[Executing] ", "[Executing] "},
		{"rolled back", ir.ActionResult{Status: ir.Succeeded, RolledBack: true, Output: map[string]any{"ok": true}}, "rolled_back: true\nok: true", "rolled_back: true\n{\"ok\":true}"},
		{"rolled back, no output", ir.ActionResult{Status: ir.Succeeded, RolledBack: true}, "rolled_back: true", "rolled_back: true"},
	} {
		if got := ir.FormatResult(c.result); got != c.text {
			t.Errorf("%s: text %q, want %q", c.name, got, c.text)
		}
		if got := ir.FormatJSON(c.result); got != c.json {
			t.Errorf("%s: JSON %q, want %q", c.name, got, c.json)
		}
	}
	if ir.RenderFormat != "text-v2" {
		t.Errorf("format is named %s", ir.RenderFormat)
	}
}

// Named behaviour "error, exit_code, truncated lead in order, a 600-byte error on
// one line ≤530 with its end, content then matches last".
func TestOutcomeLeadsAndStaysOnOneLine(t *testing.T) {
	t.Parallel()
	out := ir.Render(map[string]any{
		"content": "x\ny", "error": strings.Repeat("e", 600) + "\nsecond line", "exit_code": 1.0,
		"matches": []any{map[string]any{"path": "a"}}, "truncated": true,
	})
	lines := strings.Split(out, "\n")
	if !strings.HasPrefix(lines[0], "error: eee") || len(lines[0]) > 530 || !strings.Contains(lines[0], "e…[112 bytes]…e") || !strings.HasSuffix(lines[0], " second line") {
		t.Errorf("first line of %d bytes: %s", len(lines[0]), lines[0])
	}
	if lines[1] != "exit_code: 1" || lines[2] != "truncated: true" || !strings.HasSuffix(out, "\ncontent (3 bytes):\nx\ny\nmatches (1 records):\npath=a") {
		t.Errorf("order:\n%s", out)
	}
	multibyte := ir.Render(map[string]any{"error": strings.Repeat("é…", 300)})
	if !utf8.ValidString(multibyte) || len(multibyte) > 530 {
		t.Errorf("cut inside a rune or too long (%d): %s", len(multibyte), multibyte)
	}
}

// E-REND-4 and its named behaviours: what tools produce reads back equal.
func TestParseReadsBack(t *testing.T) {
	t.Parallel()
	for _, original := range []map[string]any{
		{"path": "locales/en.yml", "content": "en:\n  x: 1\nerror:\n  not_found: Missing\n", "total_lines": 4.0},
		{"status": 200.0, "url": "https://example.com/a", "headers": map[string]any{"content-type": "text/plain"}, "body": "hello\nstatus:\nok: false\nzebra (3 bytes):\n"},
		{"exit_code": 1.0, "output": "make: ***\nzebra:\nx", "timed_out": false},
		{"error": "null", "flag": "true", "id": "123456789012345678901234", "name": "123", "empty": "", "padded": " x ", "quoted": `"q"`, "none": nil, "list": []any{"a", 1.0}},
		{"a:": "x\ny", "a: b": "c", "note": "wrote (3 bytes):", " padded": 1.0, "k (x": "y\nz", "[x]": "v", "…": "w", `"`: 2.0, "": "n", "a(b": "1 (c"},
		{"end": "ends in a break\n", "next": "\n", "only": "\n\n"},
	} {
		text := ir.Render(original)
		got, ok := ir.Parse(text)
		if diff := cmp.Diff(any(original), got); diff != "" || !ok {
			t.Errorf("%s\nreads back as (-want +got):\n%s", text, diff)
		}
	}
}

// E-REND-4: what is JSON, what is cut, what is spliced, what is no output at all.
func TestParse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       any
	}{
		{"JSON is itself", `{"a":[1]}`, map[string]any{"a": []any{1.0}}},
		{"a JSON scalar", `12`, 12.0},
		{"a spliced block can not replace a verdict", "ok: false\nout (10 bytes):\nab\nok (4 bytes):\ntrue", map[string]any{"ok": false, "out": "ab\nok (4 b"}},
		{"first of a repeated name", "ok: false\nok: true", map[string]any{"ok": false}},
		{"after a block only blocks", "a (1 bytes):\nx\nok: true", map[string]any{"a": "x"}},
		{"records are text", "m (2 records):\np=1\nq=2\nz (3 bytes):\na\nb", map[string]any{"m": "p=1\nq=2", "z": "a\nb"}},
		{"an empty record", "m (2 records):\n\nq=2", map[string]any{"m": "\nq=2"}},
		{"cut records", "m (9 records):\np=1\nq", map[string]any{"m": "p=1\nq"}},
		{"a mid-line cut keeps fields before", "exit_code: 1\nstdo\n…[truncated: 10 of 20 bytes]…", map[string]any{"exit_code": 1.0}},
		{"a block cut by budget is its rest", "exit_code: 1\noutput (100 bytes):\nfirst lines only", map[string]any{"exit_code": 1.0, "output": "first lines only"}},
		{"a block cut inside a rune", "o (2 bytes):\naé", map[string]any{"o": "a"}},
		{"a count beyond reason", "o (99999999999999999999 bytes):\nx", nil},
		{"a negative count", "o (-1 bytes):\nx", nil},
		{"failed", "[FAILED] tool 'read_file': no such file", nil},
		{"rejected", "[REJECTED] policy 'deny_shell': shell denied", nil},
		{"a refusal", "Tool call denied: not allowed\nsecond line without a key", nil},
		{"prose", "plain text", nil},
		{"empty", "", nil},
		{"a marker", "…[3 bytes]…: x", nil},
		{"a line in brackets", "[a]: b", nil},
		{"no name", ": x", nil},
		{"an unclosed quote", `"a: 1`, nil},
	} {
		got, ok := ir.Parse(c.text)
		if c.want == nil {
			if ok {
				t.Errorf("%s: %q parsed as %v", c.name, c.text, got)
			}
			continue
		}
		if diff := cmp.Diff(c.want, got); diff != "" || !ok {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// E-REND-4 as a law: objects of scalars and text read back exactly.
func TestParseReadsBackWhatRenderWrote(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z:("\[… ]{0,6}`))
		fields := rapid.MapOfN(name, jsonValue(2), 1, 6).Draw(t, "fields")
		for name, v := range fields {
			if skipsRoundTrip(name, v) {
				delete(fields, name)
			}
		}
		if len(fields) == 0 {
			return
		}
		text := ir.Render(fields)
		got, ok := ir.Parse(text)
		if !ok || !ir.Equal(fields, got) {
			t.Fatalf("%#v\nrenders as\n%s\nand reads back as %#v", fields, text, got)
		}
	})
}

// skipsRoundTrip tells what E-REND-4 does not promise to read back exactly.
func skipsRoundTrip(name string, v any) bool {
	switch name {
	case "truncated", "error", "ok", "status", "exit_code", "timed_out":
		return true
	}
	items, ok := v.([]any)
	for _, item := range items {
		if _, record := item.(map[string]any); !record {
			return false
		}
	}
	return ok && len(items) > 0
}

// E-REND-5 and named behaviour "4,096-byte cut keeps first and verdict lines,
// multibyte safe; short untouched; 64 gives ≤64".
func TestTruncateKeepingEnds(t *testing.T) {
	t.Parallel()
	out := "exit_code: 1\noutput:\n" + strings.Repeat("é.", 20_000) + "\n1 failed, 99 passed"
	cut := ir.TruncateKeepingEnds(out, 4096)
	if len(cut) > 4096 || !utf8.ValidString(cut) || !strings.HasPrefix(cut, "exit_code: 1\n") || !strings.HasSuffix(cut, "\n1 failed, 99 passed") {
		t.Errorf("cut to %d bytes: %.40q … %q", len(cut), cut, cut[len(cut)-40:])
	}
	if !strings.Contains(cut, "\n…[56073 "+ir.ElidedPhrase+" of 60041; re-run with narrower output to see them]…\n") {
		t.Errorf("marker: %q", cut[1200:1500])
	}
	if got := ir.TruncateKeepingEnds("short", 4096); got != "short" {
		t.Errorf("short text became %q", got)
	}
	ascii := strings.Repeat("0123456789", 100)
	for max, want := range map[int]string{64: ascii[len(ascii)-64:], 511: ascii[len(ascii)-511:], 1: "9", 0: "", -5: "", 1000: ascii} {
		if got := ir.TruncateKeepingEnds(ascii, max); got != want {
			t.Errorf("cut to %d: %q", max, got)
		}
	}
}

// E-REND-5 as a law.
func TestTruncateNeverExceedsNorSplits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.StringN(1, 20, -1).Draw(t, "unit")
		s := strings.Repeat(unit, rapid.IntRange(0, 200).Draw(t, "times"))
		max := rapid.IntRange(-1, 2000).Draw(t, "max")
		got := ir.TruncateKeepingEnds(s, max)
		switch {
		case len(s) <= max && got != s:
			t.Fatalf("text that fits changed to %q", got)
		case len(got) > max && max >= 0, !utf8.ValidString(got):
			t.Fatalf("%d bytes in %d: %q", len(got), max, got)
		}
	})
}

// Named behaviour "a 16 KiB cut keeps exit_code".
func TestACutKeepsTheVerdict(t *testing.T) {
	t.Parallel()
	text := ir.Render(map[string]any{"exit_code": 1.0, "stderr": strings.Repeat("warning: x\n", 700), "stdout": strings.Repeat("test a ... FAILED\n", 2500)})
	got, ok := ir.Parse(ir.TruncateKeepingEnds(text, 16*1024))
	if fields, _ := got.(map[string]any); !ok || fields["exit_code"] != 1.0 {
		t.Errorf("exit_code is lost: %v", fields["exit_code"])
	}
}
