package eventlog_test

import (
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"car/internal/engine/eventlog"
)

// fullDiskEnv carries the path of the log into the process that meets the full disk.
const fullDiskEnv = "EVENTLOG_TEST_FULL_DISK"

// E-LOG-1, Q-TEST-5: on a full disk an append is an error, nothing of it stays in
// the file, what was there is whole, and when there is room again the log goes on.
// A limit on the file size stands for the disk; it holds for a process of its own.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(fullDiskEnv); path != "" {
		appendToFullDisk(t, path)
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFullDisk$")
	cmd.Env = append(os.Environ(), fullDiskEnv+"="+journalPath(t))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func limitFileSize(t *testing.T, size uint64) {
	t.Helper()
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}); err != nil {
		t.Fatal(err)
	}
}

func appendToFullDisk(t *testing.T, path string) {
	signal.Ignore(unix.SIGXFSZ)
	c := eventlog.Config{Path: path, Chain: true, Genesis: "g"}
	l := open(t, c)
	limitFileSize(t, 4096)
	written := 0
	for err := error(nil); err == nil; {
		if _, err = l.Append(eventlog.Event{Kind: eventlog.ActionExecuting, Data: map[string]any{"text": strings.Repeat("x", 100)}}); err == nil {
			written++
		} else if !strings.Contains(err.Error(), "append action_executing event") || !strings.Contains(err.Error(), "file too large") {
			t.Fatalf("error %v", err)
		}
	}
	if got := read(t, path); written < 3 || strings.Count(got, "\n") != written || !strings.HasSuffix(got, "}\n") {
		t.Fatalf("%d events written, file of %d lines ends in %q", written, strings.Count(got, "\n"), got[len(got)-20:])
	}
	if n := l.Count(eventlog.Query{}); n != written {
		t.Fatalf("%d events in memory, %d written", n, written)
	}
	if _, err := l.Append(eventlog.Event{Kind: eventlog.ActionExecuting, Data: map[string]any{"text": strings.Repeat("x", 4000)}}); err == nil {
		t.Fatal("a full disk takes an event")
	}
	limitFileSize(t, unix.RLIM_INFINITY)
	if e := appendTo(t, l, eventlog.Event{Kind: eventlog.ActionFailed}); e.Seq != uint64(written+1) {
		t.Fatalf("the next event is %d", e.Seq)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, c)
	if v, err := l.Verify(); err != nil || v.Verified != written+1 || l.Notice() != "" {
		t.Fatalf("%+v, %v, notice %q", v, err, l.Notice())
	}
}
