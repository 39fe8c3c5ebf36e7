package tui

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// mux is a scene inside tmux, which keeps scrollback and breaks lines anew as the
// width changes: the hardest terminal to resize.
type mux struct {
	t      *testing.T
	socket string
}

func inTmux(t *testing.T, scene string, width, height int) *mux {
	t.Helper()
	dir, err := os.MkdirTemp("", "tui") // a socket's path has to be short
	if err != nil {
		t.Fatal(err)
	}
	m := &mux{t, filepath.Join(dir, "s")}
	t.Cleanup(func() { m.run("kill-server"); os.RemoveAll(dir) })
	conf := filepath.Join(dir, "conf")
	if err := os.WriteFile(conf, []byte("set -g history-limit 50000\nset -g status off\nset -g remain-on-exit on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.must("-f", conf, "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height),
		"env TUI_SCENE="+scene+" TERM=tmux-256color LANG=C.UTF-8 "+os.Args[0])
	return m
}

func (m *mux) run(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...)
	cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TMUX=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (m *mux) must(args ...string) string {
	m.t.Helper()
	out, err := m.run(args...)
	if err != nil {
		m.t.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return out
}

// screen is the scrollback and the screen, folded lines joined.
func (m *mux) screen() string { m.t.Helper(); return m.must("capture-pane", "-p", "-J", "-S", "-") }

func (m *mux) sees(text string) {
	m.t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	limit := time.NewTimer(long)
	defer limit.Stop()
	for !strings.Contains(m.screen(), text) {
		select {
		case <-look.C:
		case <-limit.C:
			m.t.Fatalf("%q did not come:\n%s", text, m.screen())
		}
	}
}

// B065: 200 lines stream while the size goes 120x40, 60x40, 20x5, 1x1, 120x40; the
// pauses between are those in which a multiplexer tells late, or the screen has just
// been drawn at the size that goes.
func TestB065ResizeWhileStreaming(t *testing.T) {
	t.Parallel()
	for _, pause := range []time.Duration{0, 120 * time.Millisecond, 700 * time.Millisecond} {
		t.Run(pause.String(), func(t *testing.T) {
			t.Parallel()
			m := inTmux(t, "lines", 120, 40)
			m.sees("line 010")
			for _, size := range [][2]string{{"60", "40"}, {"20", "5"}, {"1", "1"}, {"120", "40"}} {
				m.must("resize-window", "-x", size[0], "-y", size[1])
				<-time.After(pause) // the input of this test, not a wait for the program
			}
			m.sees("line 199")
			m.sees("ask, or / for commands")
			screen := m.screen()
			for i := range 200 {
				if n := len(regexp.MustCompile(fmt.Sprintf(`(?m)^line %03d of `, i)).FindAllString(screen, -1)); n != 1 {
					t.Errorf("line %03d stands there %d times", i, n)
				}
			}
			// Two prompts: what was sent, and the input box.
			if n := strings.Count(screen, "❯"); n != 2 {
				t.Errorf("%d prompts are on the screen and in the scrollback", n)
			}
			if n := strings.Count(screen, "esc interrupts"); n != 0 {
				t.Errorf("%d status lines were left behind", n)
			}
			// The end is what a fresh picture of this size is.
			want := "line 199 of the long answer, which is wider than forty cells\n\n❯ ask, or / for commands\n" +
				"  model-1 · sandbox_edit · bubblewrap, no network · 2 gates · s-12ab"
			if got := trimLines(screen); !strings.HasSuffix(got, want) {
				t.Errorf("the screen ends in %q", got[max(0, len(got)-400):])
			}
		})
	}
}

func trimLines(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// P-TERM-3: a terminal that does not reflow: no crash, one input box, the transcript whole.
func TestResizeWithoutReflow(t *testing.T) {
	t.Parallel()
	s := sit(t, "idle", 120, 40)
	s.sees("ask, or / for commands")
	s.types("one message that is longer than forty cells, to be broken\r")
	s.sees("You said")
	for _, size := range [][2]int{{100, 40}, {60, 30}, {120, 40}, {50, 20}, {90, 40}} {
		s.mu.Lock()
		s.em.Resize(size[0], size[1])
		s.mu.Unlock()
		if err := pty.Setsize(s.tty, &pty.Winsize{Cols: uint16(size[0]), Rows: uint16(size[1])}); err != nil {
			t.Fatal(err)
		}
	}
	s.types("draft")
	s.sees("❯ draft")
	s.until("one prompt for what was sent and one for the draft", func(screen string) bool {
		return strings.Count(screen, "❯") == 2 && strings.Count(screen, "s-12ab") == 2 && strings.Count(screen, "You said") == 1
	})
	s.types("\x03\x03")
	s.leaves()
}
