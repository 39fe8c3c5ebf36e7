//go:build unix

package substrate

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"car/internal/engine/tool"
)

// helper is the other program of a test: a run that is going to be killed, or
// that meets a limit of the system. It is this test binary, called with a verb, a
// workspace and a temporary folder.
func helper(args []string) bool {
	if len(args) != 4 {
		return false
	}
	verbs := map[string]func(tool.Substrate){"hold": hold, "rewrite": rewrite, "overflow": overflow, "terminal": terminal}
	verb, found := verbs[args[1]]
	if !found {
		return false
	}
	s, err := Open(Config{Root: args[2], ScratchBase: args[3], UID: "1000", Session: "dead", Env: os.Environ(), Now: time.Now})
	if err != nil {
		fmt.Println(err)
		return true
	}
	verb(s)
	return true
}

// hold leaves a process running, says its pid, and waits to be killed.
func hold(s tool.Substrate) {
	if _, err := s.Exec(context.Background(), tool.Exec{Text: "setsid sleep 300 >/dev/null 2>&1 & echo $!"}, os.Stdout); err != nil {
		fmt.Println(err)
	}
	os.Stdin.Read(make([]byte, 1))
}

// rewrite writes a file over and over, until it is killed.
func rewrite(s tool.Substrate) {
	for i := 0; ; i++ {
		if _, err := s.FS().Replace("f", bytes.Repeat([]byte{byte('a' + i%2)}, 1<<20), 0, accept); err != nil {
			fmt.Println(err)
			return
		}
		if i == 0 {
			fmt.Println("writing")
		}
	}
}

// overflow writes more than the system lets it.
func overflow(s tool.Substrate) {
	limit := syscall.Rlimit{Cur: 4096, Max: 4096}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println(err)
		return
	}
	_, err := s.FS().Replace("f", bytes.Repeat([]byte("x"), 1<<20), 0, accept)
	fmt.Println("error:", err)
	s.Close()
}

// terminal runs a command that tries to reach a person.
func terminal(s tool.Substrate) {
	text := `exec 2>&1; (echo prompt >/dev/tty) && echo reached; read -t 5 answer; echo "got <$answer>"; cut -d' ' -f6-7 /proc/$$/stat | tr '\n' ' '; echo $$`
	if _, err := s.Exec(context.Background(), tool.Exec{Text: text}, os.Stdout); err != nil {
		fmt.Println(err)
	}
	s.Close()
}

// other starts a helper and returns it with its first line.
func other(t *testing.T, verb, root, base string) (*exec.Cmd, string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, verb, root, base)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close() })
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return cmd, strings.TrimSpace(line)
}

// folders makes a workspace and a temporary folder for a helper.
func folders(t *testing.T) (root, base string) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, base = filepath.Join(dir, "root"), filepath.Join(dir, "tmp")
	for _, d := range []string{root, base} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return root, base
}

// B033, P-PROC-3: even where the session has a terminal, a command has none.
func TestB033NoControllingTerminal(t *testing.T) {
	t.Parallel()
	root, base := folders(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "terminal", root, base)
	tty, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	out, _ := io.ReadAll(tty)
	cmd.Wait()
	text := strings.ReplaceAll(string(out), "\r", "")
	if strings.Contains(text, "reached") || strings.Contains(text, "prompt\n") || !strings.Contains(text, "got <>") {
		t.Errorf("got %q", text)
	}
	fields := strings.Fields(text[strings.LastIndex(text, "got <>")+len("got <>"):])
	if len(fields) != 3 || fields[0] != fields[2] || fields[1] != "0" {
		t.Errorf("session, terminal, pid: %v", fields)
	}
}

// T-FILE-13, Q-TEST-4: killed in the middle of writes, the file is one of them
// whole, and the next start leaves nothing lying about.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	root, base := folders(t)
	for round := range 15 {
		cmd, line := other(t, "rewrite", root, base)
		if line != "writing" {
			t.Fatal(line)
		}
		pause := time.NewTimer(time.Duration(round) * 700 * time.Microsecond)
		<-pause.C
		cmd.Process.Kill()
		cmd.Wait()
		data, err := os.ReadFile(filepath.Join(root, "f"))
		if err != nil || len(data) != 1<<20 || bytes.Count(data, data[:1]) != len(data) {
			t.Fatalf("round %d: %d bytes, %v", round, len(data), err)
		}
	}
	s, err := Open(Config{Root: root, ScratchBase: base, UID: "1000", Session: "next", Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if entries, _ := os.ReadDir(root); len(entries) != 1 {
		t.Errorf("left in the workspace: %v", entries)
	}
}

// Q-TEST-5: what does not fit leaves the old file and nothing beside it.
func TestWriteThatDoesNotFit(t *testing.T) {
	t.Parallel()
	root, base := folders(t)
	if err := os.WriteFile(filepath.Join(root, "f"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd, line := other(t, "overflow", root, base)
	if err := cmd.Wait(); err != nil || !strings.Contains(line, "file too large") {
		t.Errorf("%q %v", line, err)
	}
	entries, _ := os.ReadDir(root)
	if content(t, filepath.Join(root, "f")) != "old" || len(entries) != 1 {
		t.Errorf("now %q, beside it %v", content(t, filepath.Join(root, "f")), entries)
	}
}
