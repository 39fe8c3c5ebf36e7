package tui

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

// seat is a person at a terminal emulator in which a scene runs.
type seat struct {
	t    testing.TB
	tty  *os.File
	cmd  *exec.Cmd
	done chan struct{} // closed when the terminal has nothing more to say

	mu    sync.Mutex
	em    *vt.Emulator
	bytes bytes.Buffer
	more  chan struct{}
}

// sit starts a scene on a terminal of that size. The emulator answers questions, as
// terminals do.
func sit(t testing.TB, scene string, width, height int, env ...string) *seat {
	t.Helper()
	return sitWith(t, sceneCommand(scene, env...), width, height, true)
}

func sceneCommand(scene string, env ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append([]string{"TUI_SCENE=" + scene, "TERM=xterm-256color", "LANG=C.UTF-8", "XTERM_VERSION=vt does not reflow", "PATH=" + os.Getenv("PATH")}, env...)
	return cmd
}

// sitWith starts any command on a terminal, which answers questions or does not.
func sitWith(t testing.TB, cmd *exec.Cmd, width, height int, answers bool) *seat {
	t.Helper()
	tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(height), Cols: uint16(width)})
	if err != nil {
		t.Fatal(err)
	}
	s := &seat{t: t, tty: tty, cmd: cmd, done: make(chan struct{}), em: vt.NewEmulator(width, height), more: make(chan struct{}, 1)}
	if answers {
		go io.Copy(tty, s.em)
	} else {
		go io.Copy(io.Discard, s.em)
	}
	go func() {
		defer close(s.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := tty.Read(buf)
			if n > 0 {
				s.mu.Lock()
				s.bytes.Write(buf[:n])
				s.em.Write(buf[:n])
				s.mu.Unlock()
				select {
				case s.more <- struct{}{}:
				default:
				}
			}
			if err != nil {
				return // the last process closed its side
			}
		}
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		tty.Close()
		<-s.done
		s.em.InputPipe().(io.Closer).Close()
	})
	return s
}

// long is more than any of this takes, also on a machine that is busy.
const long = 30 * time.Second

// until waits for the screen to satisfy ok.
func (s *seat) until(what string, ok func(screen string) bool) {
	s.t.Helper()
	limit := time.NewTimer(long)
	defer limit.Stop()
	for !ok(s.screen()) {
		select {
		case <-s.more:
		case <-s.done:
			if !ok(s.screen()) {
				s.t.Fatalf("the program ended before %s:\n%s", what, s.screen())
			}
			return
		case <-limit.C:
			s.t.Fatalf("%s did not come:\n%s", what, s.screen())
		}
	}
}

func (s *seat) sees(text string) {
	s.t.Helper()
	s.until("the text "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// screen is the scrollback and what is on the screen, one line each.
func (s *seat) screen() string {
	var b strings.Builder
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.em.Scrollback().Lines() {
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	for line := range strings.SplitSeq(s.em.String(), "\n") {
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func (s *seat) types(keys string) {
	s.t.Helper()
	if _, err := io.WriteString(s.tty, keys); err != nil {
		s.t.Fatal(err)
	}
}

// leaves waits until the program has ended and returns every byte it wrote.
func (s *seat) leaves() string {
	s.t.Helper()
	limit := time.NewTimer(long)
	defer limit.Stop()
	select {
	case <-s.done:
	case <-limit.C:
		s.t.Fatalf("the program does not end:\n%s", s.screen())
	}
	return s.raw()
}

func (s *seat) raw() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes.String()
}
