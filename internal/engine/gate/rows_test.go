package gate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/engine/admit"
	"car/internal/engine/ir"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// A row of testdata/<gate>/*.txt is a name behind "==" and lines of one word each:
//
//	file PATH [-> TARGET]   a file in the project, or a link to one
//	set NAME TEXT           configuration, as the gate's own test reads it
//	did TOOL ARGUMENT       something that happened before in the session; "did!" failed,
//	                        "did… => TEXT" printed TEXT
//	do [needs aN] TOOL ARG  an action of the proposal under test, a1, a2, …; each comes after
//	                        the one before it, "together" with it where that word stands first
//	want VERDICT [IDS]      allow, ask or deny, and for which actions
//	says TEXT               a part of the reason
//	checks LIST             the checks that are demanded
type row struct {
	file, name string
	files      []string
	set        map[string][]string
	steps      []step
	want, says string
	checks     string
}

type step struct {
	past, failed, together bool
	needs                  []ir.ActionID
	tool, arg, output      string
}

func readRows(t *testing.T, dir string) []*row {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", dir, "*.txt"))
	if err != nil || len(names) == 0 {
		t.Fatalf("testdata/%s has no rows: %v", dir, err)
	}
	var rows []*row
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var r *row
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\n")
			switch {
			case line == "" || strings.HasPrefix(line, "#"):
			case strings.HasPrefix(line, "== "):
				r = &row{file: filepath.Base(name), name: line[3:], set: map[string][]string{}}
				rows = append(rows, r)
			default:
				r.line(t, line)
			}
		}
	}
	return rows
}

func (r *row) line(t *testing.T, line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "file":
		r.files = append(r.files, rest)
	case "set":
		key, value, _ := strings.Cut(rest, " ")
		r.set[key] = append(r.set[key], value)
	case "did", "did!", "do":
		s := step{past: word != "do", failed: word == "did!"}
		if after, ok := strings.CutPrefix(rest, "together "); ok {
			s.together, rest = true, after
		}
		if after, ok := strings.CutPrefix(rest, "needs "); ok {
			id, more, _ := strings.Cut(after, " ")
			s.needs, rest = []ir.ActionID{ir.ActionID(id)}, more
		}
		rest, s.output, _ = strings.Cut(rest, " => ")
		s.tool, s.arg, _ = strings.Cut(rest, " ")
		r.steps = append(r.steps, s)
	case "want":
		r.want = rest
	case "says":
		r.says = rest
	case "checks":
		r.checks = rest
	default:
		t.Fatalf("%s: %s: unknown word %q", r.file, r.name, word)
	}
}

// project is a folder with the files of a row, and a policy that judges in it.
type project struct {
	root   string
	policy *policy.Policy
}

// disk is the file system as policy and gates see it.
type disk struct{}

func (disk) Lstat(p string) (tool.Info, error) {
	fi, err := os.Lstat(p)
	if err != nil {
		return tool.Info{}, err
	}
	return tool.Info{Path: p, Size: fi.Size(), Mode: fi.Mode(), Links: 1}, nil
}
func (disk) Readlink(p string) (string, error)       { return os.Readlink(p) }
func (disk) ReadDir(p string) ([]fs.DirEntry, error) { return os.ReadDir(p) }
func (disk) Open(string) (tool.File, error)          { return nil, fs.ErrPermission }

func newProject(t *testing.T, files []string) *project {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{root: filepath.Join(base, "project")}
	for _, f := range append(files, "README") {
		name, target, link := strings.Cut(f, " -> ")
		full := filepath.Join(p.root, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if link {
			err = os.Symlink(target, full)
		} else {
			err = os.WriteFile(full, []byte("text\n"), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	p.policy, err = policy.New(policy.Config{Root: p.root, Home: filepath.Join(base, "home"), Scratch: filepath.Join(base, "scratch"), CarHome: filepath.Join(base, "home/.car"),
		ReadOutside: policy.Ask, Facts: disk{}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// action makes an action of a step.
func (s step) action(id ir.ActionID, before ir.ActionID) ir.Action {
	key := map[string]string{"shell": "command", "http_request": "url", "web_search": "query"}[s.tool]
	if key == "" {
		key = "path"
	}
	a := ir.Action{ID: id, Type: ir.ToolCall, Tool: s.tool, Parameters: map[string]any{key: s.arg}, Dependencies: s.needs}
	if before != "" && !s.together {
		a.After = []ir.ActionID{before}
	}
	return a
}

// effects are what the tool of a step would declare.
func (s step) effects() tool.Effects {
	switch s.tool {
	case "shell":
		return tool.Effects{Declared: true, Shell: tool.Shell{Text: s.arg}}
	case "read_file", "grep_files", "list_dir", "find_files":
		return tool.Effects{Declared: true, Reads: []string{s.arg}}
	case "write_file", "edit_file":
		return tool.Effects{Declared: true, Writes: []string{s.arg}}
	case "calculate", "todo_write":
		return tool.Effects{Declared: true}
	}
	return tool.Effects{}
}

// source is whose tool a step is of.
func (s step) source() ir.ToolSource {
	if strings.HasPrefix(s.tool, "mcp_") {
		return ir.MCP
	}
	return ir.Builtin
}

// run lets the past of a row happen and asks the gate about its proposal. wrote are
// the keys a past step wrote.
func (r *row) run(t *testing.T, p *project, g admit.Gate) (admit.Opinion, admit.View) {
	t.Helper()
	v := admit.View{Session: "s", Judged: map[ir.ActionID]policy.Judgement{}, Effects: map[ir.ActionID]tool.Effects{}, Sources: map[ir.ActionID]ir.ToolSource{},
		Key: func(_ ir.Action, key string) string { return key }}
	v.Proposal.ID = "p"
	var before ir.ActionID
	for n, s := range r.steps {
		if s.past {
			happened(p, g, s, fmt.Sprint("past", n))
			continue
		}
		id := ir.ActionID(fmt.Sprint("a", len(v.Proposal.Actions)+1))
		a := s.action(id, before)
		v.Proposal.Actions = append(v.Proposal.Actions, a)
		v.Judged[id], v.Effects[id], v.Sources[id] = p.policy.Judge(a, s.effects()), s.effects(), s.source()
		before = id
	}
	o, err := g.Check(t.Context(), v)
	if err != nil {
		t.Fatalf("%s: %s: %v", r.file, r.name, err)
	}
	return o, v
}

func happened(p *project, g admit.Gate, s step, id string) {
	a := s.action(ir.ActionID(id), "")
	h := admit.Happening{Phase: admit.Started, Session: "s", Action: a, Judgement: p.policy.Judge(a, s.effects()), Source: s.source()}
	w, ok := g.(admit.Witness)
	if !ok {
		return
	}
	w.Happened(h)
	h.Phase, h.Status, h.Output = admit.Ended, ir.Succeeded, s.output
	if s.failed {
		h.Status = ir.Failed
	}
	w.Happened(h)
}

// compare tells an opinion from what the row wants.
func (r *row) compare(t *testing.T, o admit.Opinion) {
	t.Helper()
	got, reason := o.Verdict.String(), o.Reason
	for _, id := range o.Blocked {
		got += " " + string(id)
	}
	seen := map[string]bool{}
	for _, e := range o.Escalations {
		if o.Verdict == policy.Ask {
			for _, id := range e.Actions {
				got += " " + string(id)
			}
		}
		reason += e.Reason
		if e.Fingerprint == "" || seen[e.Fingerprint] {
			t.Errorf("%s: %s: fingerprint %q is empty or used twice", r.file, r.name, e.Fingerprint)
		}
		seen[e.Fingerprint] = true
	}
	if got != r.want || !strings.Contains(reason, r.says) {
		t.Errorf("%s: %s\n got  %s: %s\n want %s: %s", r.file, r.name, got, reason, r.want, r.says)
	}
}
