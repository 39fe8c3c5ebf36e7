package substrate

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Config is what a local substrate stands on. Nothing is read from the process
// environment: cmd/car hands it in.
type Config struct {
	// Root is the workspace, an absolute path to a directory; it may be reached through links.
	Root string
	// ScratchBase is the system's temporary folder, absolute.
	ScratchBase string
	// UID names the person in the scratch folder's name: the numeric user id where there is one.
	UID string
	// Session names the session's own scratch folder, one path element.
	Session string
	// Home is the person's home; credential files below it are known by identity too. May be empty.
	Home string
	// Env is the environment that children inherit from, as NAME=value.
	Env []string
	// EnvPass names variables that children keep although Withheld would hold them
	// back. Model-provider keys and CAR_* are held back always (T-SHELL-6).
	EnvPass []string
	// Withheld says whether a variable of this name is held back from children; nil is WithheldName.
	Withheld func(name string) bool
	// Dialect is "bash" or "sh" to demand one; empty takes bash where it is, else sh (law 2).
	Dialect string
	// Confine holds shell commands and programs where the system can; nil holds none.
	Confine *Confinement
	// Now is the clock of durations.
	Now func() time.Time
	// Notice is told during Open what an earlier, killed run left and what was
	// done about it. Nil is silent.
	Notice func(text string)
}

func (c Config) check() error {
	for name, p := range map[string]string{"Root": c.Root, "ScratchBase": c.ScratchBase} {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("substrate config: %s %q is not an absolute path", name, p)
		}
	}
	for name, p := range map[string]string{"UID": c.UID, "Session": c.Session} {
		if p == "" || p == "." || p == ".." || strings.ContainsAny(p, "/\\\x00") {
			return fmt.Errorf("substrate config: %s %q is not one path element", name, p)
		}
	}
	switch c.Dialect {
	case "", "bash", "sh":
	default:
		return fmt.Errorf("substrate config: Dialect %q is neither bash nor sh", c.Dialect)
	}
	if c.Now == nil {
		return fmt.Errorf("substrate config: Now is missing")
	}
	return nil
}
