package termguard_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	_ "github.com/charmbracelet/bubbletea" // what the guard guards against
	"github.com/creack/pty"

	"car/internal/tui/termguard"
)

// TestMain lets the test binary play a command of car: it restores and prints.
func TestMain(m *testing.M) {
	if os.Getenv("TERMGUARD_CHILD") == "1" {
		termguard.Restore()
		term, had := os.LookupEnv("TERM")
		fmt.Printf("term=%s had=%v\n", term, had)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// D-16: a command on a terminal that answers nothing is not held up, and
// nothing is asked of that terminal.
func TestSilentTerminalIsNotAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, term, want string
	}{
		{"set", "TERM=xterm-256color", "term=xterm-256color had=true\r\n"},
		{"unset", "", "term= had=false\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0])
			cmd.Env = []string{"TERMGUARD_CHILD=1"}
			if c.term != "" {
				cmd.Env = append(cmd.Env, c.term)
			}
			start := time.Now()
			tty, err := pty.Start(cmd)
			if err != nil {
				t.Fatal(err)
			}
			defer tty.Close()
			out, _ := io.ReadAll(tty) // a closed pty ends in EIO
			if err := cmd.Wait(); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > 4*time.Second {
				t.Errorf("a command took %v on a silent terminal", took)
			}
			if bytes.ContainsRune(out, 0x1b) {
				t.Errorf("the terminal was asked something: %q", out)
			}
			if string(out) != c.want {
				t.Errorf("got %q, want %q", out, c.want)
			}
		})
	}
}
