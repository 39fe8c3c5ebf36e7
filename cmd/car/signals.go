package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Why a run was ended from outside; they are causes of its context.
var (
	errInterrupted = errors.New("interrupted")
	errTerminated  = errors.New("terminated")
	errHangup      = errors.New("the terminal went away")
)

// untilSignal returns a context that ends with the first signal that asks the
// process to end, its cause saying which. A second signal of any kind leaves at
// once: whoever sends it has waited long enough. SIGPIPE is caught, so that a
// write to a closed pipe is an error of that write and the work in flight is
// still ended and recorded; it is not ignored, because children would inherit
// that. The returned function stops listening and waits for the listener.
func untilSignal(parent context.Context, leave func(exitCode)) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	asked := make(chan os.Signal, 2) // written by the runtime, read by the listener, never closed
	signal.Notify(asked, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	pipe := make(chan os.Signal, 1) // nobody reads it: catching is all that is wanted
	signal.Notify(pipe, syscall.SIGPIPE)
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		first := true
		for {
			select {
			case <-done:
				return
			case s := <-asked:
				cause := causeOf(s)
				if !first {
					leave(codeOfCause(cause))
					return
				}
				first = false
				cancel(cause)
			}
		}
	}()
	return ctx, func() {
		signal.Stop(asked)
		signal.Stop(pipe)
		close(done)
		<-finished
		cancel(nil)
	}
}

func causeOf(s os.Signal) error {
	switch s {
	case syscall.SIGTERM:
		return errTerminated
	case syscall.SIGHUP:
		return errHangup
	default:
		return errInterrupted
	}
}

// codeOfCause maps the cause of an ended context to its exit code; a context that
// still runs, or ended for another reason, is 0.
func codeOfCause(cause error) exitCode {
	switch {
	case errors.Is(cause, errInterrupted):
		return exitInterrupted
	case errors.Is(cause, errTerminated):
		return exitTerminated
	case errors.Is(cause, errHangup):
		return exitHangup
	case errors.Is(cause, errOutputClosed):
		return exitOutputClosed
	default:
		return exitDone
	}
}
