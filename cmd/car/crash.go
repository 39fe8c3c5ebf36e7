package main

import (
	"fmt"
	"os"
)

// crashed turns a broken invariant into an error. Where it happened goes into a
// file for whoever mends it, not onto the person's screen (U-CLI-4).
func crashed(v any, stack []byte) error {
	err := &exitError{code: exitFailed, cause: fmt.Errorf("internal error: %v", v)}
	f, cannot := os.CreateTemp("", "car-crash-*.txt") // 0600
	if cannot != nil {
		return err
	}
	defer f.Close()
	if _, cannot := fmt.Fprintf(f, "%s\n%v\n\n%s", versionText(), v, stack); cannot == nil {
		err.hints = []string{"report it with " + f.Name()}
	}
	return err
}
