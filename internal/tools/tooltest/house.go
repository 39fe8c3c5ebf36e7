package tooltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/substrate"
)

// House is a workspace to act in, and what dispatch would lend a tool there.
type House struct {
	Root    string
	Outside string
	Sub     tool.Substrate
	Seen    tool.Ledger
	// ReadOutside lets Files read outside the root, as an approved call may.
	ReadOutside bool
	// BeforeRename runs just before a write becomes visible.
	BeforeRename func()
	// Web answers requests; nil is no network.
	Web tool.Web
	// Jobs are the background commands; nil is a host that keeps none.
	Jobs tool.Jobs
	// Session names the calls' session.
	Session string
}

// Open makes an empty workspace with a local substrate. The clock is the test's own.
func Open(t testing.TB, now func() time.Time) *House {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := &House{Root: filepath.Join(dir, "root"), Outside: filepath.Join(dir, "outside"), Seen: NewLedger(), Session: "s1"}
	for _, d := range []string{h.Root, h.Outside, filepath.Join(dir, "tmp")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := "/usr/local/bin:/usr/bin:/bin"
	h.Sub, err = substrate.Open(substrate.Config{
		Root: h.Root, ScratchBase: filepath.Join(dir, "tmp"), UID: "1000", Session: "s1", Home: filepath.Join(dir, "home"),
		Env: []string{"PATH=" + path, "HOME=" + filepath.Join(dir, "home")}, Now: now,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Sub.Close(); err != nil {
			t.Errorf("close substrate: %v", err)
		}
	})
	return h
}

// Put writes a file of the workspace and makes its folders.
func (h *House) Put(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(h.Root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Get reads a file of the workspace.
func (h *House) Get(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.Root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Link makes a link in the workspace.
func (h *House) Link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(h.Root, name)); err != nil {
		t.Fatal(err)
	}
}

// Env is what dispatch would lend for a call that was admitted.
func (h *House) Env() tool.Env {
	d := h.Sub.Describe()
	files := &files{FS: h.Sub.FS(), outside: h.ReadOutside}
	return tool.Env{
		Files: files, Writer: &writer{files, h.BeforeRename}, Seen: h.Seen, Spawn: spawner{h.Sub}, Jobs: h.Jobs, Web: h.Web, Progress: func(string) {}, Dialect: d.Dialect,
	}
}

// Run declares and runs a call, as the engine would after admission.
func (h *House) Run(ctx context.Context, tl tool.Tool, params map[string]any) (tool.Execution, error) {
	call := tool.Call{Tool: tl.Spec().Name, Params: params, Session: h.Session, Attempt: 1}
	if _, err := tl.Effects(call); err != nil {
		return tool.Execution{}, err
	}
	return tl.Run(ctx, call, h.Env())
}

// Must runs a call that has to succeed and returns its output object.
func (h *House) Must(t testing.TB, tl tool.Tool, params map[string]any) map[string]any {
	t.Helper()
	ran, err := h.Run(t.Context(), tl, params)
	if err != nil {
		t.Fatalf("%s %v: %v", tl.Spec().Name, params, err)
	}
	out, ok := ran.Output.(map[string]any)
	if !ok {
		t.Fatalf("%s: output is a %T", tl.Spec().Name, ran.Output)
	}
	return out
}

// Fails runs a call that has to fail with a typed fault whose text holds every word.
func (h *House) Fails(t testing.TB, tl tool.Tool, params map[string]any, kind tool.FaultKind, words ...string) *tool.Fault {
	t.Helper()
	_, err := h.Run(t.Context(), tl, params)
	var f *tool.Fault
	if !errors.As(err, &f) {
		t.Fatalf("%s %v: got %v, want a fault", tl.Spec().Name, params, err)
	}
	if f.Kind != kind {
		t.Errorf("%s %v: fault kind %d, want %d (%s)", tl.Spec().Name, params, f.Kind, kind, f.Text)
	}
	for _, w := range words {
		if !strings.Contains(f.Text, w) {
			t.Errorf("%s %v: got %q, want %q in it", tl.Spec().Name, params, f.Text, w)
		}
	}
	if strings.Count(f.Text, "\n") > 2 {
		t.Errorf("%s: a fault of more than three lines: %q", tl.Spec().Name, f.Text)
	}
	return f
}

// ledger is a read ledger of one session.
type ledger struct {
	mu sync.Mutex
	m  map[string]tool.Reading
}

// NewLedger returns an empty ledger, that of another session.
func NewLedger() tool.Ledger { return &ledger{m: map[string]tool.Reading{}} }

// Note records a reading.
func (l *ledger) Note(key string, r tool.Reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.m[key] = r
}

// Lookup finds the latest reading.
func (l *ledger) Lookup(key string) (tool.Reading, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r, ok := l.m[key]
	return r, ok
}

// files narrows the substrate's files as dispatch does: nothing outside that
// was not allowed, no secrets.
type files struct {
	tool.FS
	outside bool
}

func (f *files) may(info tool.Info, path string) error {
	if info.Outside && !f.outside {
		return &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf("%q is outside the working directory", path)}
	}
	return nil
}

// Stat follows links.
func (f *files) Stat(path string) (tool.Info, error) {
	info, err := f.FS.Stat(path)
	if err != nil {
		return info, err
	}
	return info, f.may(info, path)
}

// Open opens a regular file that is no secret.
func (f *files) Open(path string) (tool.File, error) {
	h, err := f.FS.Open(path)
	if err != nil {
		return nil, err
	}
	err = f.may(h.Info(), path)
	if h.Info().Secret {
		err = &tool.Fault{Kind: tool.Denied, Text: fmt.Sprintf("%q holds secrets and is not shown", path)}
	}
	if err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// ReadDir lists a folder.
func (f *files) ReadDir(path string) ([]fs.DirEntry, error) {
	if _, err := f.Stat(path); err != nil {
		return nil, err
	}
	return f.FS.ReadDir(path)
}

// writer compares and replaces, as dispatch does.
type writer struct {
	files  *files
	before func()
}

// Replace writes if what is there is what the caller expects.
func (w *writer) Replace(ctx context.Context, path string, r tool.Replacement) (ir.FileChange, error) {
	if err := ctx.Err(); err != nil {
		return ir.FileChange{}, err
	}
	var before ir.Digest
	if w.before != nil {
		w.before()
	}
	info, err := w.files.Replace(path, r.Content, 0o644, func(now []byte, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && r.Expect != "":
			return &tool.StaleError{Path: path}
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		}
		if before = ir.DigestBytes(now); before != r.Expect {
			return &tool.StaleError{Path: path, Fresh: bytes.Clone(now)}
		}
		return nil
	})
	if err != nil {
		return ir.FileChange{}, err
	}
	return ir.FileChange{Path: path, Resolved: info.Path, Before: before, After: ir.DigestBytes(r.Content)}, nil
}

// Remove takes away a file if its content is what the caller expects.
func (w *writer) Remove(_ context.Context, path string, expect ir.Digest) (ir.FileChange, error) {
	fsys, ok := w.files.FS.(tool.Remover)
	if !ok {
		return ir.FileChange{}, errors.ErrUnsupported
	}
	err := fsys.Remove(path, func(now []byte, err error) error {
		if err != nil {
			return &tool.StaleError{Path: path}
		}
		if ir.DigestBytes(now) != expect {
			return &tool.StaleError{Path: path, Fresh: bytes.Clone(now)}
		}
		return nil
	})
	if err != nil {
		return ir.FileChange{}, err
	}
	return ir.FileChange{Path: path, Resolved: path, Before: expect}, nil
}

// spawner runs commands unredacted and keeps all output: bounds are dispatch's.
type spawner struct{ sub tool.Substrate }

// Spawn runs a command.
func (s spawner) Spawn(ctx context.Context, c tool.Command) (tool.Outcome, error) {
	var out bytes.Buffer
	exit, err := s.sub.Exec(ctx, tool.Exec{Text: c.Text, Timeout: c.Timeout}, &out)
	if err != nil {
		return tool.Outcome{}, err
	}
	return tool.Outcome{
		Output: strings.ToValidUTF8(out.String(), "\uFFFD"), Total: int64(out.Len()), Code: exit.Code, Signal: exit.Signal,
		TimedOut: exit.TimedOut, Duration: exit.Duration, LeftRunning: exit.LeftRunning,
	}, nil
}
