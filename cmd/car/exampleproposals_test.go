package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var updateExamples = flag.Bool("update", false, "rewrite what the example proposals print")

// V-CLI-3, V-BEYOND-5: each example proposal reads as the page beside it says, so that
// its author can mend it without a manual.
func TestExampleProposals(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(moduleRoot, ".car-example", "proposals", "*.json"))
	if err != nil || len(names) < 12 {
		t.Fatalf("%d proposals, %v", len(names), err)
	}
	s := newSite(t)
	for _, name := range names {
		name, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		cmd := s.car(t.Context(), "verify", name)
		out, err := cmd.Output()
		code := cmd.ProcessState.ExitCode()
		if err != nil && code != 1 {
			t.Errorf("%s: %v\n%s", filepath.Base(name), err, out)
			continue
		}
		page := strings.TrimSuffix(name, ".json") + ".txt"
		if *updateExamples {
			if err := os.WriteFile(page, out, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(out)); diff != "" {
			t.Errorf("%s: %s", filepath.Base(name), diff)
		}
		if fine := strings.Contains(name, "01-fine") || strings.Contains(name, "08-two-writers"); fine != (code == 0) {
			t.Errorf("%s exits with %d", filepath.Base(name), code)
		}
	}
}
