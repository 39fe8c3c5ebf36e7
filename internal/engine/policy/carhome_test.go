package policy

import (
	"path/filepath"
	"testing"

	"car/internal/engine/ir"
)

// Law 8, T-FILE-4: what commands name of the person's own car folder is refused as
// file tools refuse it, also under full authority and where reading outside is free.
func TestCommandsDoNotReadCarHome(t *testing.T) {
	t.Parallel()
	l := newLayout(t, false)
	cfg := l.config()
	cfg.Granted, cfg.ReadOutside = ir.FullAccess, Allow
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	key := filepath.Join(l.car, "chain.key")
	verdicts(t, p, map[string]Verdict{
		"cat " + key: Deny, "cat < " + key: Deny, "cat " + l.car + "/*.key": Deny, "cp " + key + " here": Deny, "cd " + l.car + " && xxd chain.key": Deny,
		"ls -la " + l.car: Deny, "stat " + key: Deny, "grep -r x " + l.car: Deny, "tar cf here.tar " + l.car: Deny, "find " + l.car + " -name '*.key'": Deny,
		"diff a " + key: Deny, "sh -c 'head " + key + "'": Deny, "cat " + filepath.Join(l.scratch, "spool"): Allow, "cat " + filepath.Join(l.out, "x"): Allow,
	})
	if l.car == "" {
		t.Fatal("the layout has no car folder")
	}
}

// Law 8: a walk from outside the root that leads through the folder is refused.
func TestWalksAroundCarHome(t *testing.T) {
	t.Parallel()
	cfg := newLayout(t, false).config()
	cfg.CarHome, cfg.Granted, cfg.ReadOutside = "/srv/state/car", ir.FullAccess, Allow
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	verdicts(t, p, map[string]Verdict{"grep -r x /srv": Deny, "grep x /srv/file": Allow, "grep -r x /srv/other": Allow})
}
