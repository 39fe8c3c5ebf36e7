package policy

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// Config is everything a Policy stands on. Paths are absolute and clean.
type Config struct {
	// Root is the working root; Home the person's home; Scratch the session's
	// TMPDIR; CarHome the person's own `car` folder. Only Root is required.
	Root    string
	Home    string
	Scratch string
	CarHome string
	// ReadRoots are folders outside the root that may be read like inside (D-4).
	ReadRoots []string
	// ReadOutside is what reading outside the root gets; Ask is what a person gets who chose nothing.
	ReadOutside Verdict
	// Dialect is the shell that runs texts: "bash" or "sh". Empty is bash.
	Dialect string
	// Rules are the files in force, in the order they were read.
	Rules   []RuleFile
	Posture Posture
	// Granted is a standing tier for the run; unset covers nothing. It never passes a deny.
	Granted ir.Tier
	// Ceiling is the most that the run may do at all: what needs more is refused, not
	// asked for (P-GUARD-4, --tier read_only, /plan). Unset is no ceiling.
	Ceiling ir.Tier
	// Confined says that shell children are confined to the root (D-5).
	Confined bool
	// Facts are looked up while judging; nil decides by text alone.
	Facts Facts
	// Now is the clock of rate limits; required when a rate limit is in force.
	Now func() time.Time
}

// Facts are what policy may learn of files. tool.FS satisfies it. Paths are
// absolute. Safe for concurrent use.
type Facts interface {
	Lstat(path string) (tool.Info, error)
	Readlink(path string) (string, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	Open(path string) (tool.File, error)
}

var _ Facts = tool.FS(nil)

func (c Config) check() error {
	if !filepath.IsAbs(c.Root) {
		return fmt.Errorf("policy config: Root %q is not an absolute path", c.Root)
	}
	for name, p := range map[string]string{"Home": c.Home, "Scratch": c.Scratch, "CarHome": c.CarHome} {
		if p != "" && !filepath.IsAbs(p) {
			return fmt.Errorf("policy config: %s %q is not an absolute path", name, p)
		}
	}
	for _, p := range c.ReadRoots {
		if !filepath.IsAbs(p) {
			return fmt.Errorf("policy config: ReadRoots: %q is not an absolute path", p)
		}
	}
	if c.Dialect != "" && c.Dialect != "bash" && c.Dialect != "sh" {
		return fmt.Errorf("policy config: Dialect %q is neither bash nor sh", c.Dialect)
	}
	for _, f := range c.Rules {
		if err := f.Rules.Check(); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		if len(f.Rules.RateLimitTool) > 0 && c.Now == nil {
			return fmt.Errorf("policy config: Now is needed by rate_limit_tool of %s", f.Path)
		}
	}
	return nil
}
