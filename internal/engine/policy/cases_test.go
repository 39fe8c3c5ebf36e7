package policy

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// G-TIER-5: more of the kinds that the corpus has, one line each: verdict, tier,
// command.
func TestCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "cases", "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txt"), func(t *testing.T) {
			t.Parallel()
			for _, below := range []bool{false, true} {
				l := newLayout(t, below)
				cfg := l.config()
				if below {
					cfg.Facts = osFacts{}
				}
				p, err := New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				eachCase(t, name, l, func(verdict, tier, command string) {
					j := p.Judge(ir.Action{ID: "a", Type: ir.ToolCall, Tool: "shell", Parameters: map[string]any{"command": command}}, tool.Effects{})
					if verdict == "deny" && j.Verdict == Deny {
						return
					}
					if j.Verdict.String() != verdict || j.Tier.String() != tier {
						t.Errorf("%q: want %s %s, got %s %s: %s", command, verdict, tier, j.Verdict, j.Tier, j.Message())
					}
				})
			}
		})
	}
}

func eachCase(t *testing.T, name string, l layout, f func(verdict, tier, command string)) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sc := bufio.NewScanner(file)
	for sc.Scan() {
		line := l.fill(sc.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		verdict, rest, _ := strings.Cut(line, " ")
		tier := "full_access"
		if verdict != "deny" {
			tier, rest, _ = strings.Cut(rest, " ")
		}
		f(verdict, tier, strings.ReplaceAll(rest, `\n`, "\n"))
	}
}
