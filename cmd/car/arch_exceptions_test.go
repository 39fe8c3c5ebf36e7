package main

import (
	"strings"
	"testing"
)

// exception lets one place do what a rule of the arch tests forbids. rule is
// arrow, import, call, init, var, lines, func or interface; what is the import,
// the call, the variable, the function or the interface. Every line has a reason in
// words, and one whose file is gone fails the test: the list stays short.
type exception struct {
	rule string
	file string
	what string
	why  string
}

var exceptions = []exception{
	{"init", "internal/tui/termguard/termguard.go", "", "it has to act before Bubble Tea's own init asks the terminal a question (D-16)"},
	{"call", "internal/tools/newtool/main.go", "os.Exit", "a program of its own for developers, which leaves by its exit code"},
	{"import", "cmd/car/providers.go", "net/http", "it hands the environment's proxy rule to the adapters and sends nothing itself"},
	{"import", "internal/tools/mcp/fleet.go", "net/http", "it names the type of the client that it is handed and sends nothing by another"},
	{"import", "cmd/car/mcp.go", "net/http", "it hands the judged client on and sends nothing itself"},
	{"import", "cmd/car/keycommand.go", "os/exec", "key_command is the person's own program and prints a key before any session is"},
	{"import", "cmd/car/edit.go", "os/exec", "the person's own editor, opened by the person, on their own text"},
	{"import", "cmd/car/ownshell.go", "os/exec", "the person's own command, typed by the person, in their own terminal"},
	{"import", "internal/tui/takeover/takeover.go", "os/exec", "it shows the command that it is given in a terminal, and decides nothing"},
	{"call", "internal/engine/handle/registry.go", "context.Background", "a detached stream outlives the call that started it; its owner, a cancel or Close end it"},
	{"call", "internal/engine/dispatch/detach.go", "context.Background", "the outcome of a detached call is written when nobody's context is left"},
	{"func", "internal/engine/shell/check.go", "bashOnly", "one flat case for each node of the shell's grammar, nothing nested"},
}

func excepted(rule, file, what string) bool {
	for _, e := range exceptions {
		if e.rule == rule && matches(e.file, file) && e.what == what {
			return true
		}
	}
	return false
}

func TestArchExceptionsHaveReasons(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	for _, e := range exceptions {
		if len(strings.Fields(e.why)) < 4 {
			t.Errorf("exception %s %s %s has no reason in words", e.rule, e.file, e.what)
		}
		found := false
		for _, f := range s.files {
			found = found || matches(e.file, f.path)
		}
		if !found {
			t.Errorf("exception %s %s %s is for a file that is not there; delete it", e.rule, e.file, e.what)
		}
	}
}
