//go:build linux

package main

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Q-TEST-5, U-CLI-3: a disk without room is told as that, once, with what to do,
// whichever of the record's files meets it first.
func TestFullDiskIsToldAsOne(t *testing.T) {
	t.Parallel()
	for _, size := range []string{"4k", "20k", "80k"} {
		s := newSite(t)
		s.mkdir(t, "small")
		s.write(t, "p.json", `{"actions":[{"id":"a","type":"state_write","parameters":{"key":"k","value":1}}]}`)
		// The mount lives and ends with its own namespace.
		script := `mount -t tmpfs -o size=` + size + ` none small && exec car run p.json`
		shell := exec.CommandContext(t.Context(), "unshare", "-Urm", "sh", "-c", script)
		shell.Dir, shell.Env = s.dir, append(slices.Clone(s.env), "CAR_HOME="+filepath.Join(s.dir, "small"))
		out, err := shell.CombinedOutput()
		text := string(out)
		if shell.ProcessState.ExitCode() != int(exitFailed) || strings.Count(text, "the disk is full") != 1 || !strings.Contains(text, "free some space") {
			t.Errorf("a disk of %s: %v, %q", size, err, text)
		}
	}
}
