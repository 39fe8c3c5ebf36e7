package takeover

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/creack/pty"
	"github.com/muesli/cancelreader"
	"golang.org/x/term"

	"car/internal/tui/safe"
)

const (
	// kept is how much of the output is returned, in bytes from its end.
	kept = 32 << 10
	// drain is how long output may still come once the command has ended, as from a
	// process it left behind (P-PROC-1).
	drain = 200 * time.Millisecond
)

// Run runs cmd in a terminal of its own that is shown in ours, in and out, and returns
// the end of what it wrote, as plain text. The command's own failure is no error: its
// ProcessState tells it. Nobody else may read in meanwhile.
func Run(cmd *exec.Cmd, in, out *os.File) (output string, err error) {
	size, err := pty.GetsizeFull(out)
	if err != nil {
		return "", err
	}
	screen, err := pty.StartWithSize(cmd, size)
	if err != nil {
		return "", err
	}
	defer screen.Close()
	cooked, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return "", errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	defer term.Restore(int(in.Fd()), cooked)
	stopSizes := followSize(screen, out)
	defer stopSizes()
	stopKeys, err := passKeys(screen, in)
	if err != nil {
		return "", errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	defer stopKeys()

	var end outputEnd
	shown := make(chan struct{}) // closed when nothing more is written
	go func() {
		defer close(shown)
		_, _ = io.Copy(io.MultiWriter(out, &end), screen) // it ends with an error when the last writer is gone
	}()
	_ = cmd.Wait() // how it ended is in cmd.ProcessState
	select {
	case <-shown:
	case <-time.After(drain):
		screen.Close() // what is left behind gets a hangup
		<-shown
	}
	written := end.bytes()
	if !bytes.HasSuffix(written, []byte("\n")) && len(written) > 0 {
		io.WriteString(out, "\r\n")
	}
	io.WriteString(out, "\x1b[0m\x1b[?25h") // colours and a hidden cursor of a command that was cut short
	return plain(written), nil
}

// passKeys hands what is typed to the command, until it is stopped.
func passKeys(screen, in *os.File) (stop func(), err error) {
	keys, err := cancelreader.NewReader(in)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(screen, keys) // it ends when it is cancelled
	}()
	return func() {
		if keys.Cancel() {
			<-done
		}
		keys.Close()
	}, nil
}

// outputEnd keeps the end of what is written to it. It may be read while it is written.
type outputEnd struct {
	mu   sync.Mutex
	text []byte
}

func (e *outputEnd) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.text = append(e.text, p...)
	if over := len(e.text) - kept; over > kept {
		e.text = append(e.text[:0], e.text[over:]...)
	}
	return len(p), nil
}

func (e *outputEnd) bytes() []byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return bytes.Clone(e.text[max(len(e.text)-kept, 0):])
}

// plain is the text without what moves a cursor or colours it.
func plain(written []byte) string {
	return safe.Text(strings.ReplaceAll(ansi.Strip(string(written)), "\r\n", "\n"))
}
