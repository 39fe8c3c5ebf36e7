package state_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"car/internal/engine/state"
)

// killEnv carries the path of the store into the process that is killed.
const killEnv = "STATE_TEST_KILL"

// E-STATE-3, Q-TEST-4: a process that is killed with -9 at any write of its state
// leaves a store that opens with whole proposals: both keys of the newest committed
// one, none of a half.
func TestKilledAtAnyWrite(t *testing.T) {
	t.Parallel()
	if path := os.Getenv(killEnv); path != "" {
		writeUntilKilled(t, path)
		return
	}
	path := statePath(t)
	for round := range 8 {
		acknowledged := killAfter(t, path, 1+3*round*round)
		s := openStore(t, state.Config{Path: path})
		a, _ := s.Get("a")
		b, _ := s.Get("b")
		if n, ok := a.(float64); !ok || a != b || n < float64(acknowledged) {
			t.Fatalf("round %d: a is %v, b is %v, %d was committed", round, a, b, acknowledged)
		}
		if got, ok := s.Get("taken back"); ok {
			t.Fatalf("round %d: %v of a proposal that did not commit", round, got)
		}
		noError(t, s.Close())
	}
}

// killAfter starts a process that writes, kills it once it has committed n
// proposals, and returns the last of which it said so.
func killAfter(t *testing.T, path string, n int) (last int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilledAtAnyWrite$")
	cmd.Env = append(os.Environ(), killEnv+"="+path)
	out, err := cmd.StdoutPipe()
	noError(t, err)
	noError(t, cmd.Start())
	seen := 0
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, err := fmt.Sscanf(lines.Text(), "committed %d", &last); err != nil {
			t.Fatalf("the process says %q", lines.Text())
		}
		if seen++; seen == n {
			noError(t, cmd.Process.Kill())
		}
	}
	if err := cmd.Wait(); err == nil || seen < n {
		t.Fatalf("the process ended by itself after %d proposals: %v", seen, err)
	}
	return last
}

func writeUntilKilled(t *testing.T, path string) {
	s := openStore(t, state.Config{Path: path})
	start := 0.0
	if v, ok := s.Get("a"); ok {
		start = v.(float64)
	}
	for n := int(start) + 1; ; n++ {
		tx := s.Begin()
		write(t, tx, "a1", "a", n)
		write(t, tx, "a2", "b", n)
		_, err := tx.Commit()
		noError(t, err)
		if _, err := fmt.Fprintf(os.Stdout, "committed %d\n", n); err != nil {
			return
		}
		bad := s.Begin()
		write(t, bad, "a3", "taken back", n)
		write(t, bad, "a4", "a", -n)
		bad.Rollback()
	}
}
