//go:build unix

package substrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"car/internal/engine/tool"
)

// sh runs a text and returns its output.
func (b *bench) sh(t *testing.T, text string, timeout time.Duration) (string, tool.Exit) {
	t.Helper()
	var out bytes.Buffer
	exit, err := b.Exec(t.Context(), tool.Exec{Text: text, Timeout: timeout}, &out)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return out.String(), exit
}

func running(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(data), ") Z ")
}

// until waits for a condition that a process brings about.
func until(t *testing.T, limit time.Duration, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("not within %v: %s", limit, what)
		}
	}
}

// T-SHELL-2, T-SHELL-7, law 2: in the root, both streams in order, exit codes and signals.
func TestExecBasics(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	for _, c := range []struct {
		text, out, signal string
		code              int
	}{
		{"pwd", b.root + "\n", "", 0},
		{"echo a; echo b >&2; echo c", "a\nb\nc\n", "", 0},
		{"exit 7", "", "", 7},
		{"no-such-program-here 2>/dev/null", "", "", 127},
		{"kill -9 $$", "", "SIGKILL", 137},
		{"cat <<'E'\n  here $x\nE", "  here $x\n", "", 0},
		{"[[ a == a ]] && echo $0", "bash\n", "", 0},
		{"cat", "", "", 0},
		{"printf '%s' 'é\"$`'", "é\"$`", "", 0},
	} {
		out, exit := b.sh(t, c.text, 0)
		if out != c.out && !(strings.Contains(c.text, "$0") && strings.HasSuffix(out, c.out)) || exit.Code != c.code || exit.Signal != c.signal || exit.TimedOut {
			t.Errorf("%q: got %q %+v", c.text, out, exit)
		}
	}
}

func TestExecRefusesWhatNoShellTakes(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	for text, word := range map[string]string{"  \n": "empty", "echo a\x00b": "NUL", strings.Repeat("x", 200<<10): "script file"} {
		if _, err := b.Exec(t.Context(), tool.Exec{Text: text}, &bytes.Buffer{}); !strings.Contains(faultText(err), word) {
			t.Errorf("%.10q: got %v", text, err)
		}
	}
	os.RemoveAll(b.root)
	if _, err := b.Exec(t.Context(), tool.Exec{Text: "true"}, &bytes.Buffer{}); !strings.Contains(faultText(err), "working directory is gone") {
		t.Errorf("without a root: %v", err)
	}
}

// B031: a child that holds the pipe, or leaves the session, cannot stretch the
// call; it is named, and owned until Close (T-SHELL-5, P-PROC-1, P-PROC-2).
func TestB031ChildrenLeftBehind(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	var pids []int
	for _, text := range []string{
		"sleep 600 & echo ok",
		"setsid sleep 600 & echo ok",
		"(sleep 600 >&2 &) ; echo ok",
		"setsid sleep 600 >/dev/null 2>&1 & echo ok",
	} {
		out, exit := b.sh(t, text, 5*time.Minute)
		if out != "ok\n" || exit.Code != 0 || exit.TimedOut || len(exit.LeftRunning) != 1 {
			t.Errorf("%q: got %q %+v", text, out, exit)
		}
		if exit.Duration > time.Minute {
			t.Errorf("%q took %v", text, exit.Duration)
		}
		pids = append(pids, exit.LeftRunning...)
	}
	for _, pid := range pids {
		if !running(pid) {
			t.Errorf("process %d was named as running and is not", pid)
		}
	}
	began := time.Now()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("close took %v", d)
	}
	for _, pid := range pids {
		if running(pid) {
			t.Errorf("process %d outlived the session", pid)
		}
	}
}

// P-PROC-2: what left its session, its parent and its environment behind is still
// ours. Not parallel: nothing tells whose such a process is but that we are alone.
func TestStrayWithoutAnyMark(t *testing.T) {
	b := open(t, nil)
	out, exit := b.sh(t, "(env -i /bin/sh -c 'exec setsid sleep 600 >/dev/null 2>&1' &) ; echo ok", 5*time.Minute)
	if out != "ok\n" || len(exit.LeftRunning) != 1 || !running(exit.LeftRunning[0]) {
		t.Fatalf("got %q %+v", out, exit)
	}
	if err := b.Close(); err != nil || running(exit.LeftRunning[0]) {
		t.Errorf("%v, still running: %v", err, running(exit.LeftRunning[0]))
	}
}

// B031, last part: output without end stops at the limit, with the real duration.
func TestB031EndsAtTheLimit(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	var out counter
	const limit = 2 * time.Second // enough to start on a busy machine
	began := time.Now()
	exit, err := b.Exec(t.Context(), tool.Exec{Text: "yes | tee log", Timeout: limit}, &out)
	took := time.Since(began)
	if err != nil || !exit.TimedOut || exit.Duration < limit || exit.Duration > took || out.n == 0 || len(exit.LeftRunning) != 0 {
		t.Errorf("got %+v %v after %v, %d bytes", exit, err, took, out.n)
	}
}

type counter struct{ n int }

func (c *counter) Write(p []byte) (int, error) { c.n += len(p); return len(p), nil }

// T-SHELL-4: TERM, then KILL; neither a deaf process nor one that left stays.
func TestLimitEndsDeafAndStrayProcesses(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	text := `trap '' TERM
setsid sh -c 'trap "" TERM; echo $$ > stray; while :; do sleep 0.1; done' &
echo $$ > deaf; while :; do sleep 0.1; done`
	_, exit := b.sh(t, text, 500*time.Millisecond)
	if !exit.TimedOut || exit.Signal != "SIGKILL" || exit.Code != 137 || exit.Duration > 4*time.Second {
		t.Errorf("got %+v", exit)
	}
	for _, name := range []string{"stray", "deaf"} {
		pid, _ := strconv.Atoi(strings.TrimSpace(content(t, filepath.Join(b.root, name))))
		if pid == 0 || running(pid) {
			t.Errorf("%s process %d still runs", name, pid)
		}
	}
}

// T-SHELL-4: a polite process is asked first and may clean up.
func TestLimitAsksFirst(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	out, exit := b.sh(t, `trap 'echo bye; exit 3' TERM; echo up; while :; do sleep 0.05; done`, 300*time.Millisecond)
	if !strings.HasPrefix(out, "up\n") || !strings.HasSuffix(out, "bye\n") || exit.Code != 3 || !exit.TimedOut {
		t.Errorf("got %q %+v", out, exit)
	}
}

// T-SET-9: cancel ends the processes and says so.
func TestCancelEndsTheCommand(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	why := errors.New("the person pressed esc")
	ctx, cancel := context.WithCancelCause(t.Context())
	out := &signalWriter{seen: make(chan struct{})}
	go func() { <-out.seen; cancel(why) }()
	exit, err := b.Exec(ctx, tool.Exec{Text: "sleep 60 & echo $!; wait"}, out)
	if !errors.Is(err, why) || exit.Code != 143 || exit.Signal != "SIGTERM" || exit.TimedOut || exit.Duration > 2*time.Second {
		t.Errorf("got %+v %v", exit, err)
	}
	if pid, _ := strconv.Atoi(strings.TrimSpace(out.String())); pid == 0 || running(pid) {
		t.Errorf("process %d still runs", pid)
	}
}

// signalWriter closes seen at the first write.
type signalWriter struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	once sync.Once
	seen chan struct{}
}

func (w *signalWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.once.Do(func() { close(w.seen) })
	return w.buf.Write(p)
}

func (w *signalWriter) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// P-PROC-2: Close ends a command under way, and nothing can start afterwards.
func TestCloseEndsACommandUnderWay(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	out := &signalWriter{seen: make(chan struct{})}
	ended := make(chan error, 1)
	go func() {
		_, err := b.Exec(t.Context(), tool.Exec{Text: "trap '' TERM; echo up; while :; do sleep 0.1; done"}, out)
		ended <- err
	}()
	<-out.seen
	began := time.Now()
	b.Close()
	if d := time.Since(began); d > 3*time.Second {
		t.Errorf("close took %v", d)
	}
	if err := <-ended; !strings.Contains(faultText(err), "closed") {
		t.Errorf("got %v", err)
	}
	if _, err := b.Exec(t.Context(), tool.Exec{Text: "true"}, out); !strings.Contains(faultText(err), "closed") {
		t.Errorf("after close: %v", err)
	}
}

// B033, P-PROC-3: nothing can ask a person: no terminal, no stdin, no pager, no editor.
func TestB033NothingWaitsForAPerson(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) {
		c.Env = append(c.Env, "EDITOR=vi", "GIT_ASKPASS=/bin/cat", "BASH_ENV="+filepath.Join(c.Root, "rc"), "ENV=x", "GIT_AUTHOR_NAME=a",
			"GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x")
	})
	b.put(t, "rc", "echo profile ran")
	b.put(t, "bigfile", strings.Repeat("line\n", 5000))
	b.put(t, "fakessh", "#!/bin/sh\necho | $SSH_ASKPASS 'yes?' || { echo 'Host key verification failed.'; exit 255; }\n")
	for _, c := range []struct {
		text, want string
		fails      bool
	}{
		{"exec 2>&1; echo secret </dev/tty", "No such device", true},
		{"read x; echo \"got <$x>\"", "got <>", false},
		{"git init -q . && git commit -q --allow-empty; echo code $?", "empty commit message", false},
		{"git credential fill <<E 2>&1\nprotocol=https\nhost=127.0.0.1\nE", "terminal prompts disabled", true},
		{"sh ./fakessh", "verification failed", true},
		{"${PAGER} bigfile | wc -l", "5000", false},
		{"tty; echo $TERM $NO_COLOR", "not a tty\ndumb 1", false},
		{"ps -o sid= -p $$ | tr -d ' '; echo $$ >/dev/null", "", false},
	} {
		out, exit := b.sh(t, c.text, 10*time.Second)
		if exit.TimedOut || exit.Duration > 5*time.Second || !strings.Contains(strings.ToLower(out), strings.ToLower(c.want)) || (exit.Code != 0) != c.fails {
			t.Errorf("%q: got %q %+v, want %q", c.text, out, exit, c.want)
		}
		if strings.Contains(out, "profile ran") {
			t.Errorf("%q ran a start-up file", c.text)
		}
	}
}

// B075 and T-SHELL-8: output goes through, whatever its size, and costs no memory here.
func TestB075AFloodPassesThrough(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	var out counter
	exit, err := b.Exec(t.Context(), tool.Exec{Text: "head -c 200M /dev/zero"}, &out)
	if err != nil || exit.Code != 0 || out.n != 200<<20 {
		t.Errorf("got %d bytes %+v %v", out.n, exit, err)
	}
}

// T-SHELL-5: a server that is left behind neither dies of a closed pipe nor
// blocks on a full one, and writes to nobody after the call.
func TestChildLeftBehindCanGoOnWriting(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	out, exit := b.sh(t, `(while [ ! -e stop ]; do head -c 100000 /dev/zero; touch "alive-$((++n))"; sleep 0.02; done) & sleep 0.1; echo ok`, 0)
	if len(exit.LeftRunning) == 0 || !strings.Contains(out, "ok") {
		t.Fatalf("got %d bytes %+v", len(out), exit)
	}
	until(t, 10*time.Second, "the child writes on", func() bool {
		_, err := os.Stat(filepath.Join(b.root, "alive-60"))
		return err == nil
	})
	b.put(t, "stop", "")
	until(t, 5*time.Second, "the child ends by itself", func() bool { return !running(exit.LeftRunning[0]) })
}

// P-PROC-2, T-SHELL-4: after kill -9 the next start reports and reaps.
func TestKilledRunIsReapedByTheNextStart(t *testing.T) {
	t.Parallel()
	root, base := folders(t)
	cmd, line := other(t, "hold", root, base)
	pid, err := strconv.Atoi(line)
	if err != nil || !running(pid) {
		t.Fatalf("the helper said %q", line)
	}
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
	var notices []string
	s, err := Open(Config{
		Root: root, ScratchBase: base, UID: "1000", Session: "next", Env: os.Environ(), Now: time.Now,
		Notice: func(text string) { notices = append(notices, text) },
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	until(t, 3*time.Second, "the stray process is ended", func() bool { return !running(pid) })
	if len(notices) != 1 || !strings.Contains(notices[0], "dead") || !strings.Contains(notices[0], strconv.Itoa(pid)) {
		t.Errorf("notices %q, want the pid %d", notices, pid)
	}
}

// T-SHELL-6, P-GUARD-8, law 8: what children see and what they do not.
func TestChildEnvironment(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) {
		c.Env = append(c.Env, "ANTHROPIC_API_KEY=a1", "OPENAI_BASE_URL=a2", "CAR_HOME=a3", "car_token=a4", "GITHUB_TOKEN=kept", "NPM_TOKEN=a5",
			"MY_PASSWORD=a6", "GEMINI_API_KEY=a7", "SSH_AUTH_SOCK=/run/agent", "GOFLAGS=-mod=mod", "TERM=xterm", "TMPDIR=/elsewhere", "=bad", "bad")
		c.EnvPass = []string{"GITHUB_TOKEN", "ANTHROPIC_API_KEY", "CAR_HOME"}
	})
	out, _ := b.sh(t, "env", 0)
	for _, secret := range []string{"a1", "a2", "a3", "a4", "a5", "a6", "a7", "/elsewhere", "xterm"} {
		if strings.Contains(out, "="+secret+"\n") {
			t.Errorf("children see %s", secret)
		}
	}
	for _, want := range []string{
		"GITHUB_TOKEN=kept", "SSH_AUTH_SOCK=/run/agent", "GOFLAGS=-mod=mod", "TERM=dumb", "NO_COLOR=1", "PAGER=cat", "GIT_PAGER=cat",
		"GIT_EDITOR=true", "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS_REQUIRE=force", "SSH_ASKPASS=false", "DEBIAN_FRONTEND=noninteractive",
		"CAR_CHILD=1", "TMPDIR=" + b.Describe().Scratch, "PWD=" + b.root,
	} {
		if !strings.Contains("\n"+out, "\n"+want+"\n") {
			t.Errorf("children miss %s", want)
		}
	}
}

// T-SHELL-6: the caller's judgement of names replaces the default.
func TestWithheldIsTheCallersToDecide(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) {
		c.Env = append(c.Env, "NPM_TOKEN=seen", "HUSH=hidden", "OPENAI_API_KEY=never")
		c.Withheld = func(name string) bool { return name == "HUSH" }
	})
	if out, _ := b.sh(t, "echo $NPM_TOKEN-$HUSH-$OPENAI_API_KEY", 0); out != "seen--\n" {
		t.Errorf("got %q", out)
	}
}

// Law 2: sh on demand, and a demanded shell that is missing is an error.
func TestDialect(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) { c.Dialect = "sh" })
	if out, _ := b.sh(t, "echo ${BASH_VERSION:-none}; set -o | grep -c posix", 0); b.Describe().Dialect != "sh" || strings.HasPrefix(out, "5") && !strings.Contains(out, "1") {
		t.Errorf("got %s %q", b.Describe().Dialect, out)
	}
	if b := open(t, nil); b.Describe().Dialect != "bash" {
		t.Errorf("default dialect %s", b.Describe().Dialect)
	}
}

// D-27's rule for the shell too: a program inside the workspace is never taken.
func TestShellIsNotTakenFromTheWorkspace(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	os.WriteFile(filepath.Join(root, "zsh-like"), []byte("#!/bin/sh\n"), 0o755)
	c := Config{Env: []string{"PATH=" + root}}
	if got := lookup("zsh-like", c, root); got != "" {
		t.Errorf("took %s", got)
	}
	if got := lookup("zsh-like", c, filepath.Join(root, "other")); got == "" {
		t.Error("a program on PATH outside was not found")
	}
}

// T-SHELL-12: duplicates go first, then what no longer fits.
func TestCompactPath(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 20)
	for _, c := range []struct {
		path, want string
		limit      int
	}{
		{`a;a;b`, `a;a;b`, 10},
		{`C:\A;c:\a\;` + long + `;C:\B`, `C:\A;` + long + `;C:\B`, 31},
		{`one;` + long + `;two`, `one;two`, 12},
	} {
		if got := compactPath(c.path, ";", c.limit); got != c.want {
			t.Errorf("%q in %d: got %q, want %q", c.path, c.limit, got, c.want)
		}
	}
}

// P-PROC-2: zombies that fell to this process do not pile up. Not parallel, since
// it counts those of the whole process.
func TestOrphansAreReaped(t *testing.T) {
	b := open(t, nil)
	before := zombiesBelow(os.Getpid())
	for range 3 {
		b.sh(t, "for i in 1 2 3 4 5; do (sleep 0.01 &); done; sleep 0.1", 0)
	}
	b.sh(t, "true", 0)
	if n := zombiesBelow(os.Getpid()); n > before {
		t.Errorf("%d zombies more", n-before)
	}
}
