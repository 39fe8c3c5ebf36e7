package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// says runs car and holds its exit code and what it says on stderr.
func (r *ledgerRun) says(t *testing.T, code int, want string, args ...string) {
	t.Helper()
	cmd := r.car(t.Context(), args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	_ = cmd.Run() // its code is looked at
	if got := cmd.ProcessState.ExitCode(); got != code || !strings.Contains(said.String(), want) {
		t.Errorf("car %s: exit %d, want %d with %q\n%s", strings.Join(args, " "), got, code, want, said.String())
	}
}

// B077, A-SVC-11, P-SCALE-2: who wants a session that another process holds is told
// who holds it and goes on with a copy; the holder notices nothing.
func TestASessionInUse(t *testing.T) {
	t.Parallel()
	r := newLedgerRun(t)
	held := r.car(t.Context(), "do", "--continue", "--input-format", "stream-json", "--output-format", "stream-json", "--model", formats[0], "append 2.")
	in, err := held.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := held.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := held.Start(); err != nil {
		t.Fatal(err)
	}
	r.follow(out, in, func() bool {
		r.says(t, 1, "is open in another car (pid", "do", "--continue", "--model", formats[0], "hi")
		r.says(t, 1, "is open in another car (pid", "sessions", "rewind", "01", "1")
		r.says(t, 1, "is open in another car (pid", "sessions", "delete", "01")
		r.says(t, 0, "is a copy of", "do", "--continue", "--fork", "--model", formats[1], "hi")
		return false
	})
	if err := held.Wait(); err != nil || !r.acknowledged["2."] {
		t.Errorf("the holder ended with %v, acknowledged %v", err, r.acknowledged)
	}
	r.check(t)
}

// carHome is the folder of this site's state.
func (s site) carHome(t *testing.T) string {
	t.Helper()
	for _, e := range s.env {
		if path, ok := strings.CutPrefix(e, "CAR_HOME="); ok {
			return path
		}
	}
	t.Fatal("no CAR_HOME")
	return ""
}

// A-DUR-1, A-DUR-6: a database that is damaged is named with a way out, and is not
// touched; one of its own that is put back goes on.
func TestADamagedDatabase(t *testing.T) {
	t.Parallel()
	r := newLedgerRun(t)
	db := filepath.Join(r.carHome(t), "car.db")
	whole, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	junk := bytes.Repeat([]byte("no database "), 1000)
	if err := os.WriteFile(db, junk, 0o600); err != nil {
		t.Fatal(err)
	}
	r.says(t, 1, "is damaged or no car database", "do", "--continue", "--model", formats[0], "hi")
	if now, err := os.ReadFile(db); err != nil || !bytes.Equal(now, junk) {
		t.Error("the damaged file was changed")
	}
	if err := os.WriteFile(db, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.round(t, formats[0], "", 0); err != nil {
		t.Fatal(err)
	}
	r.check(t)
}

// onDisk runs a shell in a mount namespace of its own in which a file system of the
// given options stands at path, filled with what was there.
func onDisk(t *testing.T, r *ledgerRun, path, options, script string) string {
	t.Helper()
	prepare := `set -e; cp -a "$1" "$1.copy"; mount -t tmpfs -o "$2" tmpfs "$1"; cp -a "$1.copy/." "$1"; `
	cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--mount", "sh", "-c", prepare+script, "sh", path, options)
	cmd.Dir, cmd.Env = r.dir, r.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// A-DUR-6, E-LOG-1: on a full disk nothing runs that could not be written down, it
// is said, and when there is room again the session goes on with nothing lost.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	r := newLedgerRun(t)
	home := r.carHome(t)
	out := onDisk(t, r, home, "size=8m", `
head -c 100m /dev/zero > "$1/filler" 2>/dev/null || true
code=0; car do --continue -y --model anthropic/stub "append 2." || code=$?; echo "full: $code"
rm "$1/filler"
code=0; car do --continue -y --model anthropic/stub "append 3." || code=$?; echo "room: $code"
car log verify || true`)
	if !strings.Contains(out, "full: 1") || !strings.Contains(out, "disk is full") && !strings.Contains(out, "no space left") {
		t.Errorf("a full disk says\n%s", out)
	}
	if !strings.Contains(out, "room: 0") || !strings.Contains(out, "verified") {
		t.Errorf("with room again\n%s", out)
	}
	if lines := r.ledger(t); lines["2."] != 0 || lines["1."] != 1 || lines["3."] != 1 {
		t.Errorf("the ledger holds %v", lines)
	}
	r.check(t)
}

// A-DUR-1: a home that cannot be written is named, and nothing runs.
func TestAReadOnlyHome(t *testing.T) {
	t.Parallel()
	r := newLedgerRun(t)
	out := onDisk(t, r, r.carHome(t), "size=64m", `
mount -o remount,ro "$1"
code=0; car do --continue -y --model anthropic/stub "append 2." || code=$?; echo "ended: $code"`)
	if !strings.Contains(out, "ended: 1") || !strings.Contains(out, "car.db") || !strings.Contains(out, "read-only file system") {
		t.Errorf("a read-only home says\n%s", out)
	}
	if r.ledger(t)["2."] != 0 {
		t.Error("something ran")
	}
}
