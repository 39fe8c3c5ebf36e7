package store_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
)

// TestMain runs this binary as another process of car when it is asked to: a
// second writer, or one that is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "child" {
		if err := child(context.Background(), os.Args[2], os.Args[3:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(ctx context.Context, what string, args []string) error {
	db, err := store.Open(ctx, store.Config{Path: args[0], Now: time.Now, Holder: store.Self()})
	if err != nil {
		return err
	}
	defer db.Close()
	l, err := approval.New(approval.Config{Store: db, Now: time.Now})
	if err != nil {
		return err
	}
	switch what {
	case "turns":
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		return childTurns(ctx, db, l, args[1], n)
	case "effects":
		return childEffects(ctx, l, args[1])
	case "until":
		return childUntil(ctx, db, l, args[1], args[2])
	case "hold":
		if err := db.AcquireLease(ctx, args[1]); err != nil {
			return err
		}
		return pause("held")
	default:
		return fmt.Errorf("no child %q", what)
	}
}

// pause tells the parent where this process is and waits to be killed.
func pause(at string) error {
	fmt.Println(at)
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// childTurns is a session at work: each turn a checkpoint, an effect and its end.
func childTurns(ctx context.Context, db *store.DB, l *approval.Ledger, session string, n int) error {
	if err := db.AcquireLease(ctx, session); err != nil {
		return err
	}
	if _, err := db.Session(ctx, session); err != nil {
		if err := db.CreateSession(ctx, store.Session{ID: session, Root: "/project"}); err != nil {
			return err
		}
	}
	for range n {
		if err := childTurn(ctx, db, l, session); err != nil {
			return err
		}
		fmt.Println("turn")
	}
	return db.ReleaseLease(ctx, session)
}

func childTurn(ctx context.Context, db *store.DB, l *approval.Ledger, session string) error {
	n, err := db.StartTurn(ctx, session, "chat")
	if err != nil {
		return err
	}
	call := fmt.Sprintf("t%dc1", n)
	body := json.RawMessage(`{"role":"user"}`)
	_, err = db.AppendMessages(ctx, session, n,
		store.Entry{Message: store.Message{Role: "user", Body: body}},
		store.Entry{Message: store.Message{Role: "assistant", Body: body}, Calls: []store.Call{{ID: call, Tool: "shell", Args: "{}"}}})
	if err != nil {
		return err
	}
	e, err := effectOf(session, call, "make")
	if err != nil {
		return err
	}
	if err := l.BeforeDispatch(ctx, e); err != nil {
		return err
	}
	if err := l.AfterDispatch(ctx, e.ID, approval.Outcome{Completed: true, Receipt: "{}"}); err != nil {
		return err
	}
	if _, err := db.AppendMessages(ctx, session, n, store.Entry{Message: store.Message{Role: "user", Body: body}, Answers: []string{call}}); err != nil {
		return err
	}
	return db.EndTurn(ctx, session, n, store.TurnCompleted, json.RawMessage(`{"kind":"done"}`))
}

// childEffects dispatches without end; each effect adds one line to a file.
func childEffects(ctx context.Context, l *approval.Ledger, file string) error {
	for i := 1; ; i++ {
		e, err := effectOf("s1", fmt.Sprintf("t1c%d", i), "append")
		if err != nil {
			return err
		}
		if err := l.BeforeDispatch(ctx, e); err != nil {
			return err
		}
		if err := appendLine(file, string(e.ID)); err != nil {
			return err
		}
		if err := l.AfterDispatch(ctx, e.ID, approval.Outcome{Completed: true}); err != nil {
			return err
		}
		fmt.Println("effect")
	}
}

// childUntil takes one effect through its life and stops at a point of it.
func childUntil(ctx context.Context, db *store.DB, l *approval.Ledger, file, point string) error {
	if err := db.AcquireLease(ctx, "s1"); err != nil {
		return err
	}
	e, err := effectOf("s1", "t1c1", "append")
	if err != nil {
		return err
	}
	steps := []struct {
		name string
		run  func() error
	}{
		{"proposed", func() error { return l.Propose(ctx, e) }},
		{"denied", func() error {
			if point != "denied" {
				return nil
			}
			return l.Decide(ctx, e.ID, approval.Verdict{By: "user", Reason: "no"})
		}},
		{"approved", func() error { return l.Decide(ctx, e.ID, approval.Verdict{Approved: true, By: "user"}) }},
		{"dispatched", func() error { return l.BeforeDispatch(ctx, e) }},
		{"done", func() error { return appendLine(file, string(e.ID)) }},
		{"completed", func() error {
			return l.AfterDispatch(ctx, e.ID, approval.Outcome{Completed: true, Receipt: `{"ok":true}`})
		}},
	}
	for _, s := range steps {
		if err := s.run(); err != nil {
			return err
		}
		if s.name == point {
			return pause(point)
		}
	}
	return fmt.Errorf("no point %q", point)
}

func effectOf(session, call, command string) (approval.Effect, error) {
	scope := approval.Scope{Tool: "shell", Parameters: map[string]any{"command": command}, RepositoryRoot: "/project", Cwd: "/project", Target: command}
	id, err := scope.EffectID(session, call, 1)
	return approval.Effect{ID: id, Session: session, CallID: call, Attempt: 1, Scope: scope, AllowedBy: "auto:full_access"}, err
}

func appendLine(file, line string) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.WriteString(line + "\n"); err != nil {
		return err
	}
	return f.Close()
}

func readLines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Fields(string(text))
}

// process is a running child.
type process struct {
	cmd    *exec.Cmd
	out    *bufio.Scanner
	errors *strings.Builder
}

func startChild(t *testing.T, args ...string) *process {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	p := &process{cmd: exec.CommandContext(t.Context(), exe, append([]string{"child"}, args...)...), errors: &strings.Builder{}}
	p.cmd.Stderr = p.errors
	_, err = p.cmd.StdinPipe()
	must(t, err)
	out, err := p.cmd.StdoutPipe()
	must(t, err)
	p.out = bufio.NewScanner(out)
	must(t, p.cmd.Start())
	return p
}

// read waits for n lines of the child's.
func (p *process) read(t *testing.T, n int) {
	t.Helper()
	for range n {
		if !p.out.Scan() {
			t.Fatalf("the child ended: %v: %s", p.cmd.Wait(), p.errors)
		}
	}
}

// kill ends the child as kill -9 does.
func (p *process) kill(t *testing.T) {
	t.Helper()
	must(t, p.cmd.Process.Kill())
	for p.out.Scan() {
	}
	if err := p.cmd.Wait(); err == nil {
		t.Fatal("the child ended before it was killed")
	}
}

func (p *process) wait(t *testing.T) {
	t.Helper()
	for p.out.Scan() {
	}
	if err := p.cmd.Wait(); err != nil {
		t.Errorf("child %v: %v: %s", p.cmd.Args[2:], err, p.errors)
	}
}
