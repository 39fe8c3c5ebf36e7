package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"car/internal/tools/substrate/confine"

	"car/internal/tui/termguard"
)

func TestMain(m *testing.M) {
	termguard.Restore()
	testscript.Main(m, programs())
}

// TestScript runs every file of testdata/script: the command line as a person
// types it, its two outputs and its exit code. A script is found by being there.
// `exits CODE car …` runs a command that must end with that code.
func TestScript(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir+"/home")
			e.Setenv("CAR_HOME", e.WorkDir+"/home/.car")
			e.Setenv("TERM", "xterm-256color")
			for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOTOOLCHAIN", "GOFLAGS"} {
				e.Setenv(name, goEnv(name))
			}
			return os.MkdirAll(e.WorkDir+"/home", 0o700)
		},
		Condition: func(name string) (bool, error) { return name == "landlock" && confine.ABI() >= 3, nil },
		Cmds:      map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "fingerprint": fingerprint},
	})
}
