package takeover

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// terminal returns a terminal as a program has it and the person's side of it.
func terminal(t *testing.T) (tty, person *os.File) {
	t.Helper()
	person, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(person, &pty.Winsize{Rows: 33, Cols: 99}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close(); person.Close() })
	return tty, person
}

// seen reads what the person sees until it holds a text.
func seen(t *testing.T, person *os.File, text string) string {
	t.Helper()
	var all strings.Builder
	buf := make([]byte, 4096)
	for !strings.Contains(all.String(), text) {
		n, err := person.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, all.String())
		}
		all.Write(buf[:n])
	}
	return all.String()
}

// P-PROC-3, U-TUI-5: a command that asks is answered at the terminal, knows its size,
// and what it said is returned as plain text; afterwards the keys are ours again.
func TestTheCommandHasTheTerminal(t *testing.T) {
	t.Parallel()
	tty, person := terminal(t)
	cmd := exec.Command("sh", "-c", `stty size; stty -echo; printf '\033[31mname? \033[0m'; read name; stty echo; echo "hello $name"; exit 3`)
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		seen(t, person, "name? ")
		io.WriteString(person, "car\r")
		seen(t, person, "hello car")
	}()
	output, err := Run(cmd, tty, tty)
	<-answered
	if err != nil || cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("%v, %v", err, cmd.ProcessState)
	}
	if want := "33 99\nname? hello car\n"; output != want {
		t.Errorf("returned %q, want %q", output, want)
	}
	mode, err := unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS)
	if err != nil || mode.Lflag&unix.ICANON == 0 || mode.Lflag&unix.ECHO == 0 {
		t.Errorf("the terminal is left raw: %v", err)
	}
	io.WriteString(person, "next\n")
	line := make([]byte, 5)
	if _, err := io.ReadFull(tty, line); err != nil || string(line) != "next\n" {
		t.Errorf("the next line reads %q, %v", line, err)
	}
}

// P-PROC-1, P-PROC-2: what a command leaves behind neither keeps the terminal nor lives on.
func TestWhatIsLeftBehindGoes(t *testing.T) {
	t.Parallel()
	tty, person := terminal(t)
	go io.Copy(io.Discard, person)
	began := time.Now()
	output, err := Run(exec.Command("sh", "-c", "sleep 1000 & echo $!"), tty, tty)
	if err != nil || time.Since(began) > 20*time.Second {
		t.Fatalf("%v after %v", err, time.Since(began))
	}
	for i := 0; exec.Command("kill", "-0", strings.TrimSpace(output)).Run() == nil; i++ {
		if i == 2000 {
			t.Fatalf("process %s lives on", output)
		}
	}
}

// T-SHELL-6: a flood is shown whole, and its end kept within bounds.
func TestAFloodIsBounded(t *testing.T) {
	t.Parallel()
	tty, person := terminal(t)
	go io.Copy(io.Discard, person)
	output, err := Run(exec.Command("sh", "-c", "seq 200000"), tty, tty)
	if err != nil || len(output) > kept || !strings.HasSuffix(output, "199999\n200000\n") {
		t.Errorf("%v: %d bytes, the end is %q", err, len(output), output[max(len(output)-20, 0):])
	}
}
