package dispatch

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// gitPatience bounds one look into a repository.
const gitPatience = 10 * time.Second

// mostLost is how many paths or commits a question lists; the rest is counted.
const mostLost = 20

// loss is what one git command would discard and no commit holds (P-WORK-1).
type loss struct {
	// dir is where the command runs, as policy gives it.
	dir string
	// tracked are changes to files that git knows, untracked files that it does not,
	// ignored those that it is told to leave out.
	tracked, untracked, ignored bool
	// stash is the whole list of stashes, branches are names, repo is everything that
	// no remote has.
	stash    bool
	branches []string
	repo     bool
}

func (l loss) empty() bool {
	return !l.tracked && !l.untracked && !l.ignored && !l.stash && !l.repo && len(l.branches) == 0
}

// lossesOf are the losses of the commands of a judged call.
func lossesOf(j policy.Judgement) []loss {
	var all []loss
	for _, p := range j.Programs {
		if l := lossOf(p); !l.empty() {
			all = append(all, l)
		}
	}
	if j.Deletes && slices.ContainsFunc(j.Targets, func(t string) bool { return path.Base(filepath.ToSlash(t)) == ".git" }) {
		all = append(all, loss{repo: true})
	}
	return all
}

func lossOf(p policy.Program) loss {
	if len(p.Words) < 2 || p.Words[0] != "git" || p.Remote {
		return loss{}
	}
	l := loss{dir: p.Dir}
	words := p.Words[2:]
	has := func(options ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(options, w) })
	}
	letter := func(c string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return len(w) > 1 && w[0] == '-' && w[1] != '-' && strings.Contains(w, c) })
	}
	switch p.Words[1] {
	case "reset":
		l.tracked = has("--hard", "--merge", "--keep")
	case "checkout", "switch":
		l.tracked = letter("f") || has("--force", "--discard-changes", "--", ".") || has("--ours", "--theirs")
	case "restore":
		l.tracked = !has("--staged", "-S") || has("--worktree", "-W")
	case "rebase":
		l.tracked = !has("--abort", "--continue", "--quit", "--skip")
	case "clean":
		l.untracked = !letter("n") && !has("--dry-run")
		l.ignored = l.untracked && (letter("x") || letter("X"))
	case "stash":
		l.stash = len(words) > 0 && (words[0] == "drop" || words[0] == "clear")
	case "branch":
		if letter("D") || letter("d") || has("--delete") {
			l.branches = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return strings.HasPrefix(w, "-") })
		}
	}
	return l
}

// git looks into a repository without running anything of it: no hook, no monitor, no
// optional lock, and not where its own settings name filters.
type git struct {
	programs tool.Programs
	dir      string
}

func (s git) run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	full := append([]string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=false", "--no-optional-locks"}, args...)
	var out, said bytes.Buffer
	exit, err := s.programs.RunProgram(ctx, tool.Program{Command: "git", Args: full, Dir: s.dir}, nil, &out, &said)
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("git: %s", strings.TrimSpace(said.String()))
	}
	return out.Bytes(), err
}

// entry is a path of git's status.
type entry struct {
	state string // the two letters of git status
	path  string // relative to the top of the repository
}

// status lists what differs from the newest commit, and the top of the repository.
func (s git) status(ctx context.Context, l loss) (entries []entry, top string, err error) {
	if filters, err := s.run(ctx, "config", "--local", "--get-regexp", `^filter\..*\.(clean|process)$`); err == nil && len(filters) > 0 {
		return nil, "", fmt.Errorf("the repository's settings name filter programs, which looking would run")
	}
	found, err := s.run(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, "", err
	}
	top = strings.TrimSuffix(string(found), "\n")
	untracked := "no"
	if l.untracked {
		untracked = "all"
	}
	args := []string{"status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=" + untracked}
	if l.ignored {
		args = append(args, "--ignored=matching")
	}
	out, err := s.run(ctx, args...)
	if err != nil {
		return nil, "", err
	}
	for line := range strings.SplitSeq(string(out), "\x00") {
		if len(line) < 4 {
			continue
		}
		known := line[:2] != "??" && line[:2] != "!!"
		if known && l.tracked || line[:2] == "??" && l.untracked || line[:2] == "!!" && l.ignored {
			entries = append(entries, entry{line[:2], line[3:]})
		}
	}
	return entries, top, nil
}

// say lists what a loss would take, for a person who is asked; empty is nothing.
func (s git) say(ctx context.Context, l loss) []string {
	var lines []string
	switch {
	case l.stash:
		lines = s.commits(ctx, "stash", "list", "--format=%h %gd %s")
	case l.repo:
		lines = s.commits(ctx, "log", "--branches", "--tags", "HEAD", "--not", "--remotes", "--format=%h %s")
	case len(l.branches) > 0:
		for _, name := range l.branches {
			lines = append(lines, s.commits(ctx, "log", "-1", "--format=%h "+name+": %s", name, "--")...)
		}
	default:
		entries, _, err := s.status(ctx, l)
		if err != nil {
			return []string{"not known: " + err.Error()}
		}
		for _, e := range entries {
			lines = append(lines, e.state+" "+e.path)
		}
	}
	if more := len(lines) - mostLost; more > 0 {
		lines = append(lines[:mostLost], fmt.Sprintf("and %d more", more))
	}
	return lines
}

func (s git) commits(ctx context.Context, args ...string) []string {
	out, err := s.run(ctx, args...)
	if err != nil {
		return []string{"not known: " + err.Error()}
	}
	text := strings.TrimSpace(string(out))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// atStake are the blocks that tell a person what the git commands of a call would lose.
func atStake(ctx context.Context, substrate tool.Substrate, j policy.Judgement) []ir.Block {
	programs, ok := substrate.(tool.Programs)
	if !ok {
		return nil
	}
	var lines []string
	for _, l := range lossesOf(j) {
		lines = append(lines, git{programs, l.dir}.say(ctx, l)...)
	}
	if len(lines) == 0 {
		return nil
	}
	return []ir.Block{{Kind: ir.BlockText, Title: "would be lost", Text: strings.Join(lines, "\n")}}
}
