package main

import (
	"errors"
	"io"
	"os"
	"syscall"

	"golang.org/x/term"
)

// streams are the three ends of the process and what is known of them. stdout is
// the answer, stderr is the story (U-CLI-2).
type streams struct {
	in  *os.File
	out io.Writer
	err io.Writer

	inTTY, outTTY, errTTY bool
	// columns is the width of the terminal behind stderr, 0 where there is none.
	columns int
}

func openStreams() streams {
	s := streams{
		in: os.Stdin, out: &pipeWriter{w: os.Stdout}, err: os.Stderr,
		inTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		outTTY: term.IsTerminal(int(os.Stdout.Fd())),
		errTTY: term.IsTerminal(int(os.Stderr.Fd())),
	}
	if s.errTTY {
		if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
			s.columns = w
		}
	}
	return s
}

// errOutputClosed says that whoever read stdout is gone; nothing more can be told.
var errOutputClosed = errors.New("the reader of stdout went away")

// pipeWriter names a closed pipe, so that its exit code can be told from any
// other failure (exit 141).
type pipeWriter struct{ w io.Writer }

// Write passes on.
func (p *pipeWriter) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		return n, errOutputClosed
	}
	return n, err
}
