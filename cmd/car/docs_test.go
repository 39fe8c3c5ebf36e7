package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"car/internal/engine/eventlog"
)

// documents are the pages for people; the specification below docs/spec speaks of
// what is to be, these speak of what is.
func documents(t *testing.T) map[string]string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(moduleRoot, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, name := range append(names, filepath.Join(moduleRoot, "README.md")) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		pages[filepath.Base(name)] = string(text)
	}
	return pages
}

// mention is a command in code: `car do …` in a line, or a line of a block.
var mention = regexp.MustCompile("(?m)(?:`|^\\$ |^|\\| )car ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?")

// codeOnly keeps what stands in code spans and blocks; prose may say "car is".
var codeOnly = regexp.MustCompile("(?s)```[a-z]*\n.*?```|`[^`\n]+`")

// Q-DOC: a page mentions only commands that exist.
func TestDocsMentionOnlyCommandsThatExist(t *testing.T) {
	t.Parallel()
	root := newRootCommand(&app{})
	for page, text := range documents(t) {
		for _, code := range codeOnly.FindAllString(text, -1) {
			for _, m := range mention.FindAllStringSubmatch(code, -1) {
				if !commandExists(root, m[1], m[2]) {
					t.Errorf("%s mentions `car %s`, which is no command", page, strings.TrimSpace(m[1]+" "+m[2]))
				}
			}
		}
	}
}

func commandExists(root *cobra.Command, word, sub string) bool {
	root.InitDefaultHelpCmd()
	cmd, _, err := root.Find([]string{word})
	if err != nil || cmd == root {
		return false
	}
	if sub == "" || !cmd.HasSubCommands() {
		return true
	}
	below, _, err := cmd.Find([]string{sub})
	return err == nil && below != cmd
}

// Q-DOC: the table of docs/events.md holds kinds that the log knows.
func TestDocsEventKindsAreTheLogs(t *testing.T) {
	t.Parallel()
	_, table, found := strings.Cut(documents(t)["events.md"], "## The event log")
	if !found {
		t.Fatal("docs/events.md has no section on the event log")
	}
	kinds := regexp.MustCompile("(?m)^\\| (`[^|]+`) \\|").FindAllStringSubmatch(table, -1)
	if len(kinds) == 0 {
		t.Fatal("docs/events.md has no table of kinds")
	}
	for _, row := range kinds {
		for _, word := range strings.Split(row[1], ",") {
			var k eventlog.Kind
			if err := k.UnmarshalText([]byte(strings.Trim(word, " `"))); err != nil {
				t.Errorf("docs/events.md: %v", err)
			}
		}
	}
}

// Q-DOC, Q-CI-1: README begins with exactly two commands, which .ci/run types.
func TestReadmeHasTwoCommands(t *testing.T) {
	t.Parallel()
	_, block, found := strings.Cut(documents(t)["README.md"], "```sh\n")
	if !found {
		t.Fatal("README.md has no sh block")
	}
	block, _, _ = strings.Cut(block, "```")
	if want := "go run ./cmd/car do --demo\ngo test ./...\n"; block != want {
		t.Errorf("README's first sh block is\n%s\nwant\n%s", block, want)
	}
}

// Q-DOC: every console block of the pages runs as it stands, in one shell a page,
// in an empty folder and a fresh home. A line of output that the page shows must
// come, in order; `…` in it stands for anything.
func TestDocsExamplesRun(t *testing.T) {
	t.Parallel()
	for page, text := range documents(t) {
		blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(text, -1)
		if len(blocks) == 0 {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			work, env := t.TempDir(), freshHome(t)
			for _, block := range blocks {
				for _, example := range strings.Split("\n"+block[1], "\n$ ")[1:] {
					command, want, _ := strings.Cut(example, "\n")
					cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
					cmd.Dir, cmd.Env = work, env
					out, err := cmd.CombinedOutput()
					if _, ended := err.(*exec.ExitError); err != nil && !ended {
						t.Fatal(err)
					}
					expectLines(t, command, string(out), want)
				}
			}
		})
	}
}

// freshHome is the environment of a newcomer: nothing but Go's own caches is known.
func freshHome(t *testing.T) []string {
	home := t.TempDir()
	env := []string{"HOME=" + home, "CAR_HOME=" + filepath.Join(home, ".car"), "TMPDIR=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"}
	for name, value := range goSettings() {
		env = append(env, name+"="+value)
	}
	return env
}

func expectLines(t *testing.T, command, out, want string) {
	t.Helper()
	lines := strings.Split(out, "\n")
	for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		pattern := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimRight(line, " ")), "…", ".*") + "$")
		at := -1
		for i, l := range lines {
			if pattern.MatchString(strings.TrimRight(l, " \r")) {
				at = i
				break
			}
		}
		if at < 0 {
			t.Errorf("$ %s\nthe page shows the line\n\t%s\nwhich does not come in\n%s", command, line, out)
			return
		}
		lines = lines[at+1:]
	}
}
