package textfile

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// T-FILE-10: each encoding is recognised and goes back to the same bytes.
func TestEncodingsRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, raw, text string
		want            Encoding
	}{
		{"empty", "", "", UTF8},
		{"utf-8", "añb\n", "añb\n", UTF8},
		{"bom", "\xef\xbb\xbfa\r\n", "a\r\n", UTF8BOM},
		{"utf-16le", "\xff\xfea\x00\n\x00=\xd8\x00\xde", "a\n😀", UTF16LE},
		{"utf-16be", "\xfe\xff\x00a\x00\n", "a\n", UTF16BE},
		{"latin-1", "caf\xe9 \x80\n", "café €\n", Windows1252},
		{"lone surrogate", "\xff\xfe\x00\xd8a\x00", "", Unknown},
		{"odd utf-16", "\xff\xfea\x00b", "", Unknown},
		{"undefined byte", "caf\xe9\x81", "caf\uFFFD", Unknown},
	} {
		e, text := Decode([]byte(c.raw))
		if e != c.want || c.want != Unknown && text != c.text {
			t.Errorf("%s: got %v %q, want %v %q", c.name, e, text, c.want, c.text)
			continue
		}
		raw, err := e.Encode(text)
		if e == Unknown {
			if err == nil {
				t.Errorf("%s: an unknown encoding was written", c.name)
			}
			continue
		}
		if err != nil || string(raw) != c.raw {
			t.Errorf("%s: back to %q %v", c.name, raw, err)
		}
	}
}

// T-FILE-10: a character that the file's encoding lacks is named.
func TestUnencodableCharacterIsNamed(t *testing.T) {
	t.Parallel()
	_, err := Windows1252.Encode("naïve 漢")
	if err == nil || !strings.Contains(err.Error(), "漢") || !strings.Contains(err.Error(), "U+6F22") {
		t.Errorf("got %v", err)
	}
}

func TestDecodeEncodeIsIdentity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
		e, text := Decode(raw)
		if !utf8.ValidString(text) {
			t.Fatalf("text of %v is not UTF-8", e)
		}
		if e == Unknown {
			return
		}
		back, err := e.Encode(text)
		if err != nil || !bytes.Equal(back, raw) {
			t.Fatalf("%v: %x came back as %x, %v", e, raw, back, err)
		}
	})
}

// T-FILE-12: what is binary, and what only looks odd.
func TestBinary(t *testing.T) {
	t.Parallel()
	utf16 := []byte{0xff, 0xfe}
	for range 8 << 10 {
		utf16 = append(utf16, 'a', 0)
	}
	for _, c := range []struct {
		name string
		raw  []byte
		want bool
	}{
		{"empty", nil, false},
		{"text", []byte("a\tb\r\nc\f"), false},
		{"colours", []byte("\x1b[31mred\x1b[0m"), false},
		{"nul", []byte("abc\x00"), true},
		{"nul late", append(bytes.Repeat([]byte("a"), 9000), 0), false},
		{"controls", []byte("\x01\x02\x03ab"), true},
		{"png", []byte("\x89PNG\r\n\x1a\n\x00\x00"), true},
		{"utf-16", utf16, false},
		{"utf-16 bom, then junk", []byte("\xff\xfe\x00\xd8\x00\x00"), true},
		{"latin-1", []byte("caf\xe9"), false},
	} {
		if got := Binary(c.raw); got != c.want {
			t.Errorf("%s: got %v", c.name, got)
		}
	}
}

func TestEOLAndLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "none", "a": "none", "a\nb": "lf", "a\r\nb\r\n": "crlf", "a\rb": "cr", "a\r\nb\n": "mixed", "a\nb\rc": "mixed"} {
		if got := EOL(text); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	for text, want := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\n\n": 2, "a\r\nb": 2, "\n": 1} {
		if lines := Lines(text); len(lines) != want || CountLines(text) != want {
			t.Errorf("%q: got %q, %d; want %d", text, lines, CountLines(text), want)
		}
	}
}

// B027, T-FILE-11: bytes that are not edited do not change, whatever ends the lines have.
func TestSpliceKeepsUntouchedBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, raw, old, now, want string }{
		{"B027 mixed, no final newline", "one\r\ntwo\nthree", "three", "THREE", "one\r\ntwo\nTHREE"},
		{"replaced line keeps its end", "one\r\ntwo\r\nthree\n", "two", "2", "one\r\n2\r\nthree\n"},
		{"new line takes the neighbour's end", "one\r\ntwo\n", "one\n", "one\nplus\n", "one\r\nplus\r\ntwo\n"},
		{"new line beside an LF", "one\r\ntwo\nx\n", "two\n", "two\nplus\n", "one\r\ntwo\nplus\nx\n"},
		{"match over mixed lines", "a\r\nb\nc\r\n", "a\nb\nc\n", "a\nB\nc\n", "a\r\nB\nc\r\n"},
		{"bare CR is data", "a\rb\r\nc\rd\n", "c\rd", "c\rD", "a\rb\r\nc\rD\n"},
		{"end of file stays open", "a\r\nb", "b", "b\nc", "a\r\nb\r\nc"},
		{"line removed", "a\r\nb\nc\r\n", "b\n", "", "a\r\nc\r\n"},
		{"first line", "a\r\nb", "a", "x\ny", "x\r\ny\r\nb"},
	} {
		v := NewView(c.raw)
		i := strings.Index(v.LF, c.old)
		if got := v.Splice([]Change{{i, i + len(c.old), c.now}}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	v := NewView("x x\r\nx\n")
	if got := v.Splice([]Change{{0, 1, "y"}, {2, 3, "y\nz"}, {4, 5, "y"}}); got != "y y\r\nz\r\ny\n" {
		t.Errorf("several on a line: got %q", got)
	}
}

func TestSpliceMatchesPlainReplacement(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`([ab]|\r\n|\n|\r){0,12}`)
		raw := part.Draw(t, "raw")
		v := NewView(raw)
		start := rapid.IntRange(0, len(v.LF)).Draw(t, "start")
		end := rapid.IntRange(start, len(v.LF)).Draw(t, "end")
		now := ToLF(part.Draw(t, "new"))
		got := v.Splice([]Change{{start, end, now}})
		want := v.LF[:start] + now + v.LF[end:]
		if strings.Contains(want, "\r\n") || strings.Contains(v.LF, "\r\n") {
			return // a bare CR that came to stand before an LF is a CRLF from now on
		}
		if ToLF(got) != want {
			t.Fatalf("raw %q [%d:%d]=%q: got %q, want %q by lines", raw, start, end, now, got, want)
		}
		if v.LF[start:end] == now && got != raw {
			t.Fatalf("a change of nothing changed %q to %q", raw, got)
		}
	})
}

func TestDiffs(t *testing.T) {
	t.Parallel()
	if d := Diff("f", "a\r\nb\r\n", "a\r\nc\r\n"); strings.Contains(d, "\r") || !strings.Contains(d, "-b\n+c\n") || !strings.HasPrefix(d, "--- a/f\n+++ b/f\n") {
		t.Errorf("crlf: %q", d)
	}
	if d := Diff("f", "a\r\n", "a\n"); !strings.Contains(d, "-a\r\n+a\n") {
		t.Errorf("only line ends differ: %q", d)
	}
	if d := Diff("f", "a", "a"); d != "" {
		t.Errorf("same: %q", d)
	}
	long := strings.Repeat("line\n", 1000)
	if d := ShortDiff("f", "", long, 200); len(d) > 240 || !strings.Contains(d, "more lines of diff") {
		t.Errorf("short: %q", d)
	}
}

// T-FILE-18: the changed lines with their neighbours, under the new numbers.
func TestSnippet(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 30 {
		lines = append(lines, strings.Repeat("x", i+1))
	}
	before := strings.Join(lines, "\n") + "\n"
	after := strings.Replace(before, "\nxxx\n", "\nnew\nnew2\n", 1)
	after = strings.Replace(after, "\n"+lines[24]+"\n", "\n", 1)
	got := Snippet(before, after, 1)
	want := "     2\txx\n     3\tnew\n     4\tnew2\n     5\txxxx\n   ...\n    24\t" + lines[22] + "\n    25\t" + lines[23] + "\n    26\t" + lines[25] + "\n    27\t" + lines[26] + "\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Snippet("a\n", "", 4); got != "" {
		t.Errorf("emptied: %q", got)
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	if head, cut := Clip("äöü", 2); head != "äö" || cut != 1 {
		t.Errorf("got %q %d", head, cut)
	}
	if head, cut := Clip("ab", 2); head != "ab" || cut != 0 {
		t.Errorf("got %q %d", head, cut)
	}
}
