package main

import (
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// exits is the script command `exits CODE PROGRAM ARGS…`. The outputs are matched
// as after exec, since the program's code was an assertion of its own.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var failed *exec.ExitError
	got := 0
	switch {
	case errors.As(err, &failed):
		got = failed.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%s exited with %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// fingerprintText finds what a refusal says can be approved.
var fingerprintText = regexp.MustCompile(`approve fingerprint '([0-9a-f]{64})'`)

// fingerprint is the script command that puts the fingerprint of the last
// refusal on stdout into $FINGERPRINT.
func fingerprint(ts *testscript.TestScript, neg bool, args []string) {
	found := fingerprintText.FindStringSubmatch(ts.ReadFile("stdout"))
	if neg || len(args) != 0 || found == nil {
		ts.Fatalf("no fingerprint on stdout")
	}
	ts.Setenv("FINGERPRINT", found[1])
}

// goSettings are the go command's own, so that scripts which run it share its
// caches and need no network.
var goSettings = sync.OnceValue(func() map[string]string {
	settings := map[string]string{}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOTOOLCHAIN", "GOFLAGS"} {
		if out, err := exec.Command("go", "env", name).Output(); err == nil {
			settings[name] = strings.TrimSpace(string(out))
		}
	}
	return settings
})

func goEnv(name string) string { return goSettings()[name] }
