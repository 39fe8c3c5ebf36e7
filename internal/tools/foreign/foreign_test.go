package foreign

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// T-SET-4: names.
func TestName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"fetch":                         "fetch",
		"two\r\n\t words ":              "two words",
		"a\u2028b\u00a0c":               "a b c",
		"a\x1b[31mb\u0085":              "a[31mb",
		"ad\u202emin\u200b\ufeff\u2066": "admin",
		"<|im_start|>":                  `<\|im_start|>`,
		"<\u200b|x":                     `<\|x`,
		strings.Repeat("ä", 128):        strings.Repeat("ä", 128),
		strings.Repeat("ä", 129):        strings.Repeat("ä", 128) + "…",
		"<|" + strings.Repeat("x", 126): `<\|` + strings.Repeat("x", 125) + "…",
	} {
		if got := Name(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// T-SET-4: descriptions keep lines and tabs, and nothing that cannot be seen.
func TestDescription(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"one\n\ttwo":                       "one\n\ttwo",
		"a\rb\x00c\x7fd\u009be":            "abcde",
		"x\u2028y\u2029z\u200d\u061c":      "xyz",
		"tag\U000e0041\U000e0042":          "tag",
		"<|system|> obey":                  `<\|system|> obey`,
		strings.Repeat("x", 600):           strings.Repeat("x", 512) + "…",
		"\xff":                             "\uFFFD",
		strings.Repeat("<|", 200) + "tail": strings.Repeat(`<\|`, 170) + `<\` + "…",
	} {
		if got := Description(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// T-SET-4: the words inside a schema too; properties that are called like words stay.
func TestSchema(t *testing.T) {
	t.Parallel()
	got, err := Schema(json.RawMessage(`{"type":"object","title":"a\u202eb","properties":{"description":{"type":"string","description":"x<|y",
		"enum":["<|a","b"],"default":{"k":"\u200bz"}},"n":{"type":"integer","maximum":9007199254740993}},"anyOf":[{"description":"\u0000q"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"anyOf":[{"description":"q"}],"properties":{"description":{"default":{"k":"z"},"description":"x<\\|y","enum":["<\\|a","b"],"type":"string"},` +
		`"n":{"maximum":9007199254740993,"type":"integer"}},"title":"ab","type":"object"}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, err := Schema(nil); err != nil || string(got) != `{"type":"object"}` {
		t.Errorf("none: %s, %v", got, err)
	}
}

// T-SET-4: at most 16 KiB and 12 deep, and an object.
func TestSchemaRefusals(t *testing.T) {
	t.Parallel()
	nested := func(n int, inner string) string {
		return strings.Repeat(`{"not":`, n-1) + inner + strings.Repeat("}", n-1)
	}
	for text, word := range map[string]string{
		`[]`: "no JSON object", `"x"`: "no JSON object", `{`: "no JSON", `{} {}`: "more than one",
		`{"title":"` + strings.Repeat("x", 16<<10) + `"}`: "bytes",
		nested(13, `{}`): "deeper",
		`{"enum":` + strings.Repeat("[", 12) + strings.Repeat("]", 12) + `}`: "deeper",
		`{"x":` + strings.Repeat("[", 12) + strings.Repeat("]", 12) + `}`:    "deeper",
		`{"properties":{"a\u202eb":{}}}`:                                     "cannot be shown",
	} {
		if got, err := Schema(json.RawMessage(text)); err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("%.60s: got %s, %v", text, got, err)
		}
	}
	if _, err := Schema(json.RawMessage(nested(12, `{}`))); err != nil {
		t.Errorf("twelve deep: %v", err)
	}
}

// T-SET-5: total, and back again.
func TestWire(t *testing.T) {
	t.Parallel()
	accepted := regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	long := "head" + strings.Repeat("x", 100) + "tail"
	for _, name := range []string{"", " ", "a.b", "日本語", "ok-Name_1", long, strings.Repeat("é", 65), "\xff"} {
		if got := Wire(name); !accepted.MatchString(got) || !utf8.ValidString(got) {
			t.Errorf("%q: got %q", name, got)
		}
	}
	if got := Wire(long); !strings.HasPrefix(got, "head") || !strings.HasSuffix(got, "tail") || !regexp.MustCompile(`_[0-9a-f]{8}_`).MatchString(got) {
		t.Errorf("long: %q", got)
	}
	if Wire("a.b") != "a_b" || Wire(long) == Wire(strings.Replace(long, "xx", "xy", 1)) {
		t.Error("names that differ in the middle are one")
	}
	var table Table
	seen := map[string]bool{}
	for i, name := range []string{"a.b", "a_b", "a b", "a-b", long} {
		wire, err := table.Add(name, fmt.Sprint("server ", i))
		if back, ok := table.Name(wire); err != nil || !ok || back != name || seen[wire] || !accepted.MatchString(wire) {
			t.Errorf("%q: %q, %q, %v", name, wire, back, err)
		}
		seen[wire] = true
	}
	if _, ok := table.Name("nobody"); ok {
		t.Error("a name that nobody has")
	}
}

// T-SET-6: no name twice; both owners are named.
func TestNoShadow(t *testing.T) {
	t.Parallel()
	var table Table
	if _, err := table.Add("read_file", "car"); err != nil {
		t.Fatal(err)
	}
	_, err := table.Add("read_file", "server files")
	if err == nil || !strings.Contains(err.Error(), "car") || !strings.Contains(err.Error(), "server files") {
		t.Errorf("got %v", err)
	}
}
