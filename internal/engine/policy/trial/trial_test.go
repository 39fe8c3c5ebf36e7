package trial

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/policy"
)

func base(t *testing.T) Config {
	return Config{Temp: t.TempDir(), Posture: policy.Balanced, ReadOutside: policy.Ask}
}

// corpus tries every row of a file and prints the share of each class.
func corpus(t *testing.T, name string, cfg Config) {
	f, err := os.Open(filepath.Join("..", "testdata", "corpus", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type tally struct{ good, all, ideal, ideals int }
	classes := map[string]tally{}
	var sum tally
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		c, err := DecodeLine(lines.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, err := Run(cfg, c)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		one := classes[c.Class]
		one.all++
		if got.Good {
			one.good++
		} else {
			t.Errorf("%s %s %s %q: want %s %s %s, got %s %s: %s", c.ID, c.Class, c.Input.Tool, c.Brief(), c.Verdict, c.Tier, c.Match, got.Verdict, got.Tier, got.Message())
		}
		if c.Ideal != "" {
			one.ideals++
			if got.Ideal {
				one.ideal++
			} else {
				t.Logf("ideal missed: %s %s %q", c.ID, c.Class, c.Brief())
			}
		}
		classes[c.Class] = one
	}
	if err := lines.Err(); err != nil || len(classes) == 0 {
		t.Fatalf("%s: %d classes, %v", name, len(classes), err)
	}
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		c := classes[class]
		sum = tally{sum.good + c.good, sum.all + c.all, sum.ideal + c.ideal, sum.ideals + c.ideals}
		t.Logf("%-20s %3d/%3d  ideal %2d/%2d", class, c.good, c.all, c.ideal, c.ideals)
	}
	t.Logf("%s: %d of %d rows, %d of %d ideal", name, sum.good, sum.all, sum.ideal, sum.ideals)
}

// G-TIER-5, D-13: every row of the corpus, with files that exist, and by text alone
// where a row needs no facts and the root lies in the home.
func TestCorpus(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"commands.jsonl", "http.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			corpus(t, name, base(t))
		})
		t.Run(name+" by text", func(t *testing.T) {
			t.Parallel()
			cfg := base(t)
			cfg.TextOnly, cfg.BelowHome = true, true
			corpus(t, name, cfg)
		})
	}
}

// G-POL-6: a wrong answer is told from a right one, in every way of matching.
func TestCompare(t *testing.T) {
	t.Parallel()
	cfg := base(t)
	for _, c := range []struct {
		command, tier, verdict, match string
		good                          bool
	}{
		{"ls", "read_only", "allow", "", true},
		{"ls", "", "allow", "", true},
		{"ls", "sandbox_edit", "allow", "", false},
		{"ls", "read_only", "ask", "", false},
		{"touch x", "sandbox_edit", "ask", "", true},
		{"touch x", "full_access", "ask", "", false},
		{"curl https://example.com/", "sandbox_edit", "ask", "at_least", true},
		{"ls", "full_access", "ask", "at_least", false},
		{"sudo ls", "read_only", "deny", "", true}, // what is denied has no tier to compare
		{"ls", "", "deny", "at_least", false},
		{"ls", "", "", "", true},
	} {
		got, err := Run(cfg, Case{Input: Input{Tool: "shell", Params: map[string]any{"command": c.command}}, Tier: c.tier, Verdict: c.verdict, Match: c.match})
		if err != nil || got.Good != c.good {
			t.Errorf("%+v: good %v, %s %s, %v", c, got.Good, got.Verdict, got.Tier, err)
		}
	}
}

// What a row builds stays in the throwaway folder, which is gone afterwards.
func TestFactsStayInside(t *testing.T) {
	t.Parallel()
	cfg := base(t)
	outside := filepath.Join(t.TempDir(), "x")
	read := Input{Tool: "read_file", Params: map[string]any{"path": "a"}}
	for _, f := range []Fact{{Kind: "file", Path: outside}, {Kind: "file", Path: "../../../../x"}, {Kind: "dir"}, {Kind: "hardlink", Path: "a", Target: "/etc/passwd"},
		{Kind: "swap", Path: "a"}, {Kind: "wormhole", Path: "a"}} {
		if _, err := Run(cfg, Case{Input: read, Setup: []Fact{f}}); err == nil {
			t.Errorf("%+v was built", f)
		}
	}
	if _, err := Run(cfg, Case{Input: read, Setup: []Fact{{Kind: "file", Path: "{{OUT}}/b", Content: "x"}, {Kind: "symlink", Path: "a", Target: "{{OUT}}/b"}}}); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(cfg.Temp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("a fact was built outside")
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`{"id":"a"}`: "input.tool is missing",
		`{"input":{"tool":"shell"},"verdict":"maybe"}`:                  `verdict "maybe"`,
		`{"input":{"tool":"shell"},"tier":"root"}`:                      `tier "root"`,
		`{"input":{"tool":"shell"},"match":"about"}`:                    `match "about"`,
		`{"input":{"tool":"shell","params":{"command":7}},"verdict":3}`: "verdict",
		`nonsense`: "invalid character",
	} {
		if _, err := DecodeLine([]byte(line)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	long := Case{Input: Input{Params: map[string]any{"command": strings.Repeat("ä", 500)}}}
	if got := long.Brief(); len([]rune(got)) != 111 {
		t.Error(fmt.Sprint(len([]rune(got)), got))
	}
}
