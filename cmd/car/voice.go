package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"

	"car/internal/tui/safe"
)

// The voice of the door. To the person: one line that says what happened and
// where, then one line for each next thing to type. Lower case, no full stop, no
// stack, no capitals; a cause that came from outside is shown with its control
// characters made visible.

// complain prints an error and its hints. Errors without a cause were told already.
func complain(w io.Writer, err error) {
	var coded *exitError
	if errors.As(err, &coded) && coded.cause == nil || errors.Is(err, errOutputClosed) {
		return // told already, or nobody reads any more
	}
	lines := strings.Split(strings.TrimRight(err.Error(), "\n"), "\n")
	fmt.Fprintf(w, "car: %s\n", safe.Line(lines[0]))
	for _, line := range lines[1:] {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		fmt.Fprintf(w, "  %s\n", safe.Line(line))
	}
	if errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "free some space") {
		fmt.Fprintln(w, "  try: free some space on that disk, then run this again")
	}
	if coded != nil {
		for _, h := range coded.hints {
			fmt.Fprintf(w, "  try: %s\n", safe.Line(h))
		}
	}
}
