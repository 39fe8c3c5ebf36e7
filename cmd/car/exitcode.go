package main

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

// exitCode is what the process tells its caller (U-CLI-3, A-CLI-2). The numbers
// are a contract; their words are in exitTable.
type exitCode int

const (
	exitDone         exitCode = 0
	exitFailed       exitCode = 1
	exitUsage        exitCode = 2
	exitRefused      exitCode = 3
	exitNoProvider   exitCode = 4
	exitGoalMissed   exitCode = 5
	exitGoalUnknown  exitCode = 6
	exitBudget       exitCode = 124
	exitHangup       exitCode = 129
	exitInterrupted  exitCode = 130
	exitOutputClosed exitCode = 141
	exitTerminated   exitCode = 143
)

var exitTable = []struct {
	code exitCode
	says string
}{
	{exitDone, "done; a goal was reached"},
	{exitFailed, "failed; an answer that is empty, cut or filtered; the session is in use"},
	{exitUsage, "usage or configuration: nothing ran"},
	{exitRefused, "an effect was refused by policy, gate or person and not achieved otherwise"},
	{exitNoProvider, "sign-in or provider missing"},
	{exitGoalMissed, "goal not reached, or its check was altered"},
	{exitGoalUnknown, "goal not verified: its check could not be run to a verdict"},
	{exitBudget, "a budget, the wall clock or the number of steps ran out"},
	{exitHangup, "the terminal went away"},
	{exitInterrupted, "interrupted (ctrl+c); a second one ends at once"},
	{exitOutputClosed, "the reader of stdout went away"},
	{exitTerminated, "terminated by a signal"},
}

// exitError carries an exit code to main. Its cause is nil where the outcome was
// already told and nothing is left to say.
type exitError struct {
	code  exitCode
	cause error
	hints []string
}

// Error is the cause's text.
func (e *exitError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.cause.Error()
}

// Unwrap returns the cause.
func (e *exitError) Unwrap() error { return e.cause }

// usageError is a command line or configuration that can not be followed (exit 2).
func usageError(cause error, hints ...string) error {
	return &exitError{code: exitUsage, cause: cause, hints: hints}
}

// codeOf decides the exit code of an error, in this one place. A nil error is 0.
func codeOf(err error) exitCode {
	var coded *exitError
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &coded):
		return coded.code
	case errors.Is(err, errOutputClosed):
		return exitOutputClosed
	default:
		return exitFailed
	}
}

func printExitCodes(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range exitTable {
		fmt.Fprintf(t, "%d\t%s\n", row.code, row.says)
	}
	return t.Flush()
}

// newExitCodesTopic is `car help exit-codes`.
func newExitCodesTopic() *cobra.Command {
	topic := &cobra.Command{Use: "exit-codes", Short: "What each exit code means"}
	topic.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		// Help has no way to report a failed write; the next write will.
		_ = printExitCodes(cmd.OutOrStdout())
	})
	return topic
}
