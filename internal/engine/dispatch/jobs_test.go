package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// inShell runs do with the Env of a call that may run text.
func (b *bench) inShell(t *testing.T, text string, do func(ctx context.Context, e tool.Env) error) {
	t.Helper()
	p := probe{effects: tool.Effects{Declared: true, Shell: tool.Shell{Text: text}}, run: func(ctx context.Context, e tool.Env) (tool.Execution, error) {
		return tool.Execution{}, do(ctx, e)
	}}
	if a := b.run(t, p, policy.Allow); a.Err != nil {
		t.Fatal(a.Err)
	}
}

func faultKind(err error) tool.FaultKind {
	var f *tool.Fault
	if errors.As(err, &f) {
		return f.Kind
	}
	return tool.Failed
}

// T-SHELL-10, D-37: a job is started, found, read twice from any byte, and its end is
// told with its code; secrets are masked before they reach the spool.
func TestJobIsStartedReadAndEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := "echo one; echo hunter2-very-secret; echo three; exit 4"
	b.inShell(t, text, func(ctx context.Context, e tool.Env) error {
		j, err := e.Launch.Launch(ctx, tool.Command{Text: text})
		if err != nil || j.ID != "j1" {
			t.Fatalf("%+v %v", j, err)
		}
		if _, err := e.Launch.Launch(ctx, tool.Command{Text: "true"}); faultKind(err) != tool.Denied {
			t.Errorf("a text that was not admitted: %v", err)
		}
		if j, err = e.Jobs.Await(ctx, "j1", time.Minute); err != nil || j.Running || j.Code != 4 || j.Redacted != 1 || strings.Contains(j.Command, "hunter2") {
			t.Fatalf("%+v %v", j, err)
		}
		first, err := e.Jobs.Read("j1", 0, 1<<10)
		if err != nil || !strings.HasPrefix(first.Text, "one\n") || !strings.HasSuffix(first.Text, "three\n") || strings.Contains(first.Text, "hunter2") || first.Next != first.Job.Total {
			t.Fatalf("%+v %v", first, err)
		}
		if again, _ := e.Jobs.Read("j1", 0, 1<<10); again.Text != first.Text {
			t.Errorf("reading took something away: %q", again.Text)
		}
		if part, _ := e.Jobs.Read("j1", 4, 3); part.From != 4 || part.Next != 7 || part.Text != first.Text[4:7] {
			t.Errorf("%+v", part)
		}
		if end, _ := e.Jobs.Read("j1", -1, 6); end.Text != "three\n" {
			t.Errorf("%+v", end)
		}
		if _, err := e.Jobs.Read("j9", 0, 1); faultKind(err) != tool.NotFound || !strings.Contains(err.Error(), "j1") {
			t.Errorf("got %v", err)
		}
		return nil
	})
}

// T-SHELL-8, D-37: every byte of a long job can be read, the middle from the spool, while it runs.
func TestLongJobIsReadInPieces(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := `i=0; while [ $i -lt 60000 ]; do echo "line $i"; i=$((i+1)); done; while :; do sleep 0.05; done`
	var want strings.Builder
	for i := range 60000 {
		fmt.Fprintf(&want, "line %d\n", i)
	}
	b.inShell(t, text, func(ctx context.Context, e tool.Env) error {
		if _, err := e.Launch.Launch(ctx, tool.Command{Text: text}); err != nil {
			return err
		}
		for e.Jobs.List()[0].Total < int64(want.Len()) {
			if _, err := e.Jobs.Await(ctx, "j1", 20*time.Millisecond); err != nil {
				return err
			}
		}
		var got strings.Builder
		for got.Len() < want.Len() {
			o, err := e.Jobs.Read("j1", int64(got.Len()), 10<<10)
			if err != nil || o.Text == "" || o.From != int64(got.Len()) {
				t.Fatalf("at %d: %d bytes from %d, %v", got.Len(), len(o.Text), o.From, err)
			}
			got.WriteString(o.Text)
		}
		if got.String() != want.String() {
			t.Error("the pieces are not the output")
		}
		j, err := e.Jobs.Kill(ctx, "j1")
		if err != nil || j.Running || !j.Killed {
			t.Errorf("%+v %v", j, err)
		}
		return nil
	})
}

// T-SHELL-10: eight run at once and no ninth; one that ended makes room. P-PROC-2: killing ends the descendants.
func TestJobsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := "sleep 600 & sleep 600"
	b.inShell(t, text, func(ctx context.Context, e tool.Env) error {
		for range 8 {
			if _, err := e.Launch.Launch(ctx, tool.Command{Text: text}); err != nil {
				return err
			}
		}
		_, err := e.Launch.Launch(ctx, tool.Command{Text: text})
		if faultKind(err) != tool.TooLarge || !strings.Contains(err.Error(), "j8") || !strings.Contains(err.Error(), "shell_kill") {
			t.Errorf("the ninth: %v", err)
		}
		if j, err := e.Jobs.Kill(ctx, "j3"); err != nil || !j.Killed {
			t.Errorf("%+v %v", j, err)
		}
		j, err := e.Launch.Launch(ctx, tool.Command{Text: text})
		if err != nil || j.ID != "j9" {
			t.Errorf("after room was made: %+v %v", j, err)
		}
		return nil
	})
}

// T-SHELL-10: cancel of the call that started it leaves a job alone; closing the dispatcher ends it.
func TestJobsOutliveTheCallNotTheSession(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var list tool.Jobs
	text := "sleep 600"
	b.inShell(t, text, func(ctx context.Context, e tool.Env) error {
		list = e.Jobs
		_, err := e.Launch.Launch(ctx, tool.Command{Text: text})
		return err
	})
	if j := list.List()[0]; !j.Running {
		t.Fatalf("it ended with the call: %+v", j)
	}
	if err := b.place.Close(); err != nil {
		t.Fatal(err)
	}
	if j, err := list.Await(t.Context(), "j1", 10*time.Second); err != nil || j.Running {
		t.Errorf("it outlived the session: %+v %v", j, err)
	}
}

// T-SHELL-10: a command that may be detached goes on as a job past the host's patience,
// with what it has said so far; one that may not is waited for.
func TestLongCommandGoesOnAsJob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.patience = 300 * time.Millisecond
	text := "echo up; while [ ! -e stop ]; do sleep 0.05; done; echo down; exit 3"
	b.inShell(t, text, func(ctx context.Context, e tool.Env) error {
		o, err := e.Spawn.Spawn(ctx, tool.Command{Text: text, Detachable: true})
		if err != nil || o.Job != "j1" || o.Output != "up\n" || o.Duration < b.patience {
			t.Fatalf("%+v %v", o, err)
		}
		if o, err := e.Spawn.Spawn(ctx, tool.Command{Text: text, Timeout: 600 * time.Millisecond}); err != nil || o.Job != "" || !o.TimedOut {
			t.Errorf("%+v %v", o, err)
		}
		if j, err := e.Jobs.Kill(ctx, "j1"); err != nil || !j.Killed {
			t.Errorf("%+v %v", j, err)
		}
		if o, err := e.Jobs.Read("j1", 0, 100); err != nil || o.Text != "up\n" {
			t.Errorf("%+v %v", o, err)
		}
		return nil
	})
}
