package safe

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// B069, P-TERM-1: what a terminal would obey is shown instead.
func TestTextShowsWhatATerminalWouldObey(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "two\nlines", "two\nlines"},
		{"erase the screen", "a\x1b[2Jb", `a\x1b[2Jb`},
		{"write the clipboard", "\x1b]52;c;aGk=\x07", `\x1b]52;c;aGk=\a`},
		{"a link", "\x1b]8;;http://x\x1b\\y", `\x1b]8;;http://x\x1b\y`},
		{"the window title", "\x1b]0;t\x07", `\x1b]0;t\a`},
		{"reset", "\x1bc", `\x1bc`},
		{"C1 as a rune", "\u009b2J", `\u009b2J`},
		{"C1 as a byte", "\x9b2J", `\x9b2J`},
		{"a lone carriage return", "safe\rrm", `safe\rrm`},
		{"a line end of Windows", "a\r\nb", "a\nb"},
		{"two carriage returns", "a\r\r\nb", "a\\r\nb"},
		{"backspaces", "ls\b\brm", `ls\b\brm`},
		{"bidi override", "a\u202eb", `a\u202eb`},
		{"bidi isolate", "\u2066x\u2069", `\u2066x\u2069`},
		{"invisible", "rm\u200b -rf\ufeff", `rm\u200b -rf\ufeff`},
		{"tags", "a\U000e0041", `a\U000e0041`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"NUL and DEL", "\x00\x7f", `\x00\x7f`},
		{"broken UTF-8", "a\xffb\xe2\x82", `a\xffb\xe2\x82`},
		{"tabs", "\ta\n12\tb\n\u754c\tc", "    a\n12  b\n\u754c  c"},
		{"letters of the world", "שלום 界 👩\u200d🚀 e\u0301", "שלום 界 👩\u200d🚀 e\u0301"},
	} {
		if got := Text(c.in); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestLineStaysOnOneLine(t *testing.T) {
	t.Parallel()
	if got, want := Line("a\nb\r\nc"), `a\nb\nc`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// B069: a sequence split over two deltas is caught, wherever it is split.
func TestStreamIsCaughtAtEverySplit(t *testing.T) {
	t.Parallel()
	const hostile = "x\x1b[2J\u009b\xc2\xc2\x9by\r\n\r\tz\u202e界\xe7"
	want := Text(hostile)
	for i := range hostile {
		for j := i; j < len(hostile); j++ {
			var f Stream
			got := f.Add(hostile[:i]) + f.Add(hostile[i:j]) + f.Add(hostile[j:]) + f.Flush()
			if got != want {
				t.Fatalf("split at %d and %d: got %q, want %q", i, j, got, want)
			}
		}
	}
}

// P-TERM-1: whatever goes in, what comes out can be printed, and filtering it again changes nothing.
func TestTextIsPrintable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "runes")
		out := Text(in)
		if !utf8.ValidString(out) {
			t.Fatalf("not UTF-8: %q", out)
		}
		for _, r := range out {
			if r != '\n' && !Rune(r) {
				t.Fatalf("%q let %q through", in, r)
			}
		}
		if again := Text(out); again != out {
			t.Fatalf("not stable: %q, then %q", out, again)
		}
	})
}

func TestWriterKeepsStateBetweenWrites(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	w := NewWriter(&out)
	for _, b := range []byte("a\x1b]0;x\x07\u009b\r\nb\r") {
		if n, err := w.Write([]byte{b}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("a\\x1b]0;x\\a\\u009b\nb\\r", out.String()); diff != "" {
		t.Error(diff)
	}
}

// P-TERM-1: our own colours stay, nothing else does.
func TestStyledKeepsColoursOnly(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"\x1b[1;31mred\x1b[0m":        "\x1b[1;31mred\x1b[0m",
		"\x1b[38:2::1:2:3mx\x1b[m":    "\x1b[38:2::1:2:3mx\x1b[m",
		"\x1b[31mred\x1b[2J":          "\x1b[31mred\\x1b[2J",
		"\x1b[?25lx":                  `\x1b[?25lx`,
		"\x1b]8;;u\x1b\\x\x1b[0m":     "\\x1b]8;;u\\x1b\\x\x1b[0m",
		"\x1b[31":                     `\x1b[31`,
		"a\x1b[0m\rb\x1b[1mc\u202e\n": "a\x1b[0m\\rb\x1b[1mc\\u202e\n",
	} {
		if got := Styled(in); got != want {
			t.Errorf("Styled(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzStyled(f *testing.F) {
	f.Add("\x1b[1mx\x1b[2J")
	f.Fuzz(func(t *testing.T, s string) {
		out := Styled(s)
		for i := 0; i < len(out); i++ {
			if out[i] == 0x1b {
				n := styleSequence(out[i:])
				if n == 0 {
					t.Fatalf("%q became %q", s, out)
				}
				i += n - 1
			}
		}
	})
}
