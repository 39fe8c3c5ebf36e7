package dispatch

import (
	"bytes"
	"testing"
)

// T-SHELL-8, B069: what a process says reaches nobody as terminal control, also
// when a sequence is split over two writes, and progress keeps its last state.
func TestCleaner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\nc", "a\tb\nc"},
		{"colour", "\x1b[31mred\x1b[0m\n", "red\n"},
		{"clear screen and reset", "\x1b[2Jx\x1bcy", "xy"},
		{"clipboard write ends with BEL", "a\x1b]52;c;c2VjcmV0\x07b", "ab"},
		{"title ends with ST", "a\x1b]0;title\x1b\\b", "ab"},
		{"unfinished OSC ends at the line", "a\x1b]0;t\nb", "ab"},
		{"charset", "\x1b(Bx", "x"},
		{"escape inside CSI starts anew", "\x1b[3\x1b[0mx", "x"},
		{"progress", " 10%\r 50%\r100%\ndone\n", "100%\ndone\n"},
		{"CRLF", "a\r\nb\r\n", "a\nb\n"},
		{"backspace, bell, NUL, DEL", "a\bb\a\x00\x7f", `a\x08b\x07\x00\x7f`},
		{"C1 as one code point", "a\u009b31mb", `a\x9b31mb`},
		{"raw C1 byte is broken UTF-8", "a\x9bb", "a\uFFFDb"},
		{"wide text", "ä你🙂\n", "ä你🙂\n"},
		{"cut rune", "a\xe4\xbd", "a\uFFFD"},
	} {
		for cut := 0; cut <= len(c.in); cut++ {
			var out bytes.Buffer
			w := newCleaner(&out)
			for _, part := range []string{c.in[:cut], c.in[cut:]} {
				if _, err := w.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want {
				t.Errorf("%s, cut at %d: got %q, want %q", c.name, cut, out.String(), c.want)
			}
		}
	}
}

// T-SHELL-8: a line without an end is held back only so far.
func TestCleanerBoundsALine(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := newCleaner(&out)
	for range 100 {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 4096)); err != nil {
			t.Fatal(err)
		}
	}
	if cap(w.line) > 2*lineBytes {
		t.Errorf("holds %d bytes of a line", cap(w.line))
	}
	if err := w.Close(); err != nil || out.Len() != 100*4096 {
		t.Errorf("err %v, %d bytes came through", err, out.Len())
	}
}
