package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A-CLI-3, D-1: where the words of a task come from.
func TestPromptComesFromWhereItWasAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "task.md"), []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, stdin string
		words       []string
		want        prompt
		wantErr     string
		hint        bool
	}{
		{"words", "", []string{"fix", "it"}, prompt{text: "fix it"}, "", false},
		{"a file", "", []string{"@task.md"}, prompt{text: "from a file"}, "", false},
		{"a mention is no file", "", []string{"see", "@task.md"}, prompt{text: "see @task.md"}, "", false},
		{"stdin alone is the task", "do this\n", []string{"-"}, prompt{text: "do this"}, "", false},
		{"stdin beside words is data", "diff\n", []string{"review", "-"}, prompt{text: "review", data: "diff\n"}, "", false},
		{"stdin that nobody asked for", "secret\n", []string{"hi"}, prompt{text: "hi"}, "", true},
		{"nothing", "", nil, prompt{}, "there is no task", false},
		{"an empty stdin", "", []string{"-"}, prompt{}, "there is no task", false},
		{"a missing file", "", []string{"@gone.md"}, prompt{}, "gone.md", false},
		{"stdin twice", "", []string{"-", "-"}, prompt{}, "stands twice", false},
		{"no text", "a\x00b", []string{"-"}, prompt{}, "not UTF-8 text", false},
		{"too much", strings.Repeat("x", maxPromptData+1), []string{"-"}, prompt{}, "more than", false},
	} {
		var said bytes.Buffer
		a := &app{env: environment{cwd: dir}, io: streams{in: piped(t, c.stdin, true), err: &said}}
		got, err := a.readPrompt(c.words, false)
		if c.wantErr != "" {
			if err == nil || !strings.Contains(err.Error(), c.wantErr) || codeOf(err) != exitUsage {
				t.Errorf("%s: error %v, want one that says %q and exits 2", c.name, err, c.wantErr)
			}
			continue
		}
		if err != nil || got != c.want {
			t.Errorf("%s: got %+v, %v, want %+v", c.name, got, err, c.want)
		}
		if hinted := strings.Contains(said.String(), "add `-`"); hinted != c.hint {
			t.Errorf("%s: hint on stderr %v, want %v", c.name, hinted, c.hint)
		}
	}
}

// B039, P-PROC-5: a pipe that is never written and never closed hangs nothing.
func TestPromptDoesNotWaitForAnOpenPipe(t *testing.T) {
	t.Parallel()
	a := &app{io: streams{in: piped(t, "", false), err: &bytes.Buffer{}}}
	done := make(chan error, 1)
	go func() { _, err := a.readPrompt([]string{"hi"}, false); done <- err }()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("readPrompt waits for a stdin that nobody asked for")
	}
}

// piped is a pipe that holds text; closed says that its writer is gone.
func piped(t *testing.T, text string, closed bool) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		// A reader that stops early leaves a broken pipe, which is fine here.
		_, _ = w.WriteString(text)
		if closed {
			w.Close()
		}
	}()
	if len(text) < 4096 {
		<-wrote
	}
	t.Cleanup(func() { r.Close(); <-wrote; w.Close() })
	return r
}
