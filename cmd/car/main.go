// Command car is a governed coding agent for the terminal: models propose, car
// validates, governs, runs and records.
//
// This package is the door and nothing else. A command is one file: an options
// struct, a constructor that only parses, a function that only works. What a
// command needs is put together by the wire_*.go files, one for each concern.
// Only this package imports cobra, reads the environment and the clock, and
// leaves the process. Exit codes stand in exitcode.go, words in voice.go.
//
// To add a command: one file <name>.go with newNameCommand, its line in root.go
// and a script in testdata/script that runs it as a person would.
package main

import (
	"context"
	"errors"
	"os"
	"runtime/debug"
	"time"

	"car/internal/tools/substrate/confine"
	"car/internal/tui/termguard"
)

func main() {
	termguard.Restore()
	if len(os.Args) == 2 && os.Args[1] == confine.Word {
		if err := confine.Main(); err != nil {
			complain(os.Stderr, err)
			os.Exit(int(exitFailed))
		}
		return
	}
	os.Exit(int(run(os.Args[1:])))
}

// app is what every command stands on.
type app struct {
	env environment
	io  streams
	now func() time.Time
	// emergency knows what has to end when nobody waits.
	emergency *emergency
	// reached says that the command line was understood, so that an error is no longer one of usage.
	reached bool
}

func run(args []string) exitCode {
	a := &app{io: openStreams(), now: time.Now, emergency: &emergency{}}
	ctx, stop := untilSignal(context.Background(), func(code exitCode) {
		a.emergency.kill()
		os.Exit(int(code))
	})
	defer stop()
	err := a.start(ctx, args)
	if err != nil {
		complain(a.io.err, err)
	}
	// A run that was ended from outside says so, whatever else came of it.
	if code := codeOfCause(context.Cause(ctx)); code != exitDone {
		return code
	}
	return codeOf(err)
}

func (a *app) start(ctx context.Context, args []string) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = crashed(v, debug.Stack())
		}
	}()
	if a.env, err = readEnvironment(); err != nil {
		return err
	}
	root := newRootCommand(a)
	root.SetArgs(args)
	err = root.ExecuteContext(ctx)
	if coded := (*exitError)(nil); err != nil && !a.reached && !errors.As(err, &coded) {
		return usageError(err, "car help")
	}
	return err
}
