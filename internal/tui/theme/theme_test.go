package theme

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
)

// U-TUI-10, U-TUI-11: the environment decides what a terminal may be sent.
func TestDetect(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		env  string
		want Features
	}{
		{"TERM=xterm-256color LANG=de_DE.UTF-8", Features{Profile: termenv.ANSI256, Reflows: true}},
		{"TERM=xterm-256color COLORTERM=truecolor", Features{Profile: termenv.TrueColor, Reflows: true}},
		{"TERM=xterm-256color NO_COLOR=1", Features{Profile: termenv.Ascii, Reflows: true}},
		{"TERM=xterm XTERM_VERSION=XTerm(390)", Features{Profile: termenv.ANSI}},
		{"TERM=linux", Features{Profile: termenv.ANSI, ASCII: true}},
		{"TERM=tmux-256color LC_ALL=C LANG=en_US.ISO-8859-1", Features{Profile: termenv.ANSI256, Reflows: true, Multiplexed: true}},
		{"TERM=xterm-256color TMUX=/tmp/x", Features{Profile: termenv.ANSI256, Reflows: true, Multiplexed: true}},
		{"TERM=xterm-256color LANG=en_US.ISO-8859-1", Features{Profile: termenv.ANSI256, ASCII: true, Reflows: true}},
		{"TERM=dumb", Features{Profile: termenv.Ascii, Dumb: true, Reflows: true}},
		{"", Features{Profile: termenv.Ascii, Dumb: true, Reflows: true}},
		{"TERM=dumb TERM=xterm-kitty CAR_ACCESSIBLE=1", Features{Profile: termenv.TrueColor, Accessible: true, Reflows: true}},
		{"TERM=xterm-kitty CAR_ACCESSIBLE=0", Features{Profile: termenv.TrueColor, Reflows: true}},
	} {
		if diff := cmp.Diff(c.want, Detect(strings.Fields(c.env))); diff != "" {
			t.Errorf("%s: %s", c.env, diff)
		}
	}
}

// NO_COLOR: a plain theme writes no escape at all.
func TestPlainHasNoEscapes(t *testing.T) {
	t.Parallel()
	th := Plain()
	for _, s := range []string{th.Accent.Render("x"), th.Dim.Render("x"), th.AddedWord.Render("x"), th.Key.Render("x")} {
		if s != "x" {
			t.Errorf("got %q", s)
		}
	}
	if s := New(Options{Profile: termenv.ANSI}).Bad.Render("x"); !strings.Contains(s, "\x1b[") {
		t.Errorf("a coloured theme wrote %q", s)
	}
}

func TestSpinnerTurns(t *testing.T) {
	t.Parallel()
	g := asciiGlyphs
	if a, b := g.Spin(0), g.Spin(SpinnerFrame); a == b {
		t.Errorf("two frames look alike: %q", a)
	}
	if got := g.Spin(-5); got != "|" {
		t.Errorf("before its start the spinner shows %q", got)
	}
}
