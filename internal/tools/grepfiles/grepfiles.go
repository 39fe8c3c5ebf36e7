// Package grepfiles is the grep_files tool: lines of files that match an RE2
// pattern (T-FILE-19, T-FILE-20). Files are read and searched by a few workers
// while the walk goes on; answers come in the order of the walk. At most the
// workers' files are in memory.
//
// It acts through tool.Env and imports engine/ir, engine/tool and the rooms of
// walking and text beside it.
package grepfiles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/change"
	"car/internal/tools/walk"
	"car/internal/tools/wire"
)

const (
	maxMatches = 200
	maxContext = 5
	// maxBytes bounds the text of an answer (T-REND-3).
	maxBytes = 14 << 10
	// fileBytes is the largest file that is searched.
	fileBytes = 10 << 20
	// budget is how long a search goes on before it answers with what it has.
	budget = 10 * time.Second
)

const schema = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "RE2 regular expression, matched against each line. No look-around, no back-references."},
    "path": {"type": "string", "description": "Folder or file to search, the working directory unless given."},
    "glob": {"type": "string", "description": "Only files whose path fits, such as *.go or src/**/*.ts; a leading ! leaves them out instead."},
    "literal": {"type": "boolean", "description": "Take the pattern as plain text."},
    "ignore_case": {"type": "boolean", "description": "Do not tell upper and lower case apart."},
    "context": {"type": "integer", "minimum": 0, "maximum": 5, "description": "Lines to show around each match, 5 at most."},
    "files_only": {"type": "boolean", "description": "Show only which files match and how often."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "How many matches or files to show, 200 at most."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

type input struct {
	Pattern    string  `json:"pattern"`
	Path       *string `json:"path"`
	Glob       string  `json:"glob"`
	Literal    bool    `json:"literal"`
	IgnoreCase bool    `json:"ignore_case"`
	Context    int     `json:"context"`
	FilesOnly  bool    `json:"files_only"`
	Limit      int     `json:"limit"`
}

type output struct {
	Pattern string     `json:"pattern"`
	Path    string     `json:"path"`
	Matches *[]match   `json:"matches,omitempty"`
	Files   *[]matched `json:"files,omitempty"`
	// Total counts matching lines, or matching files with files_only.
	Total         int               `json:"total"`
	Truncated     bool              `json:"truncated"`
	Partial       bool              `json:"partial,omitempty"`
	FilesSearched int               `json:"files_searched"`
	Note          string            `json:"note,omitempty"`
	Outside       bool              `json:"outside,omitempty"`
	NotLookedAt   *walk.NotLookedAt `json:"not_looked_at,omitempty"`
}

// match is one line that matches.
type match struct {
	Path   string   `json:"path"`
	Line   int      `json:"line"`
	Text   string   `json:"text"`
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
}

// matched is one file that matches.
type matched struct {
	Path  string `json:"path"`
	Count int    `json:"count"`
}

type grepFiles struct {
	ignore string
	budget time.Duration
}

// New returns the tool; it is always bound.
func New(b tool.Bindings) tool.Tool { return grepFiles{ignore: b.GlobalIgnore, budget: budget} }

// Spec says what the tool is.
func (grepFiles) Spec() tool.Spec {
	return tool.Spec{
		Name: "grep_files",
		Description: "Search the text of files for a regular expression, line by line, in order of paths. Files that git ignores, " +
			"binaries, files over 10 MiB and secret files are left out and counted; a file named as path is searched though ignored.",
		Parameters: json.RawMessage(schema), Effect: tool.Read, Category: "filesystem", CountField: "total", Version: "1",
	}
}

// Effects declares one read.
func (grepFiles) Effects(call tool.Call) (tool.Effects, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Effects{}, err
	}
	return tool.Effects{Declared: true, Reads: []string{*in.Path}}, nil
}

func parse(call tool.Call) (input, error) {
	in, err := wire.In[input](call.Params)
	if err != nil {
		return in, err
	}
	if in.Path, err = walk.Start(in.Path); err != nil {
		return in, err
	}
	switch {
	case in.Pattern == "":
		return in, wire.Bad("missing 'pattern' parameter")
	case !doublestar.ValidatePattern(strings.TrimPrefix(in.Glob, "!")):
		return in, wire.Bad("glob %q is no glob; check its brackets and braces", in.Glob)
	case in.Context < 0 || in.Context > maxContext:
		return in, wire.Bad("context is from 0 to %d", maxContext)
	case in.Limit < 0 || in.Limit > maxMatches:
		return in, wire.Bad("limit is from 1 to %d", maxMatches)
	}
	if in.Limit == 0 {
		in.Limit = maxMatches
	}
	_, err = compile(in)
	return in, err
}

// wants reports whether a file is asked for, by its path below the start.
func (in input) wants(rel string) bool {
	if in.Glob == "" {
		return true
	}
	glob, not := strings.CutPrefix(in.Glob, "!")
	glob = strings.TrimPrefix(glob, "./")
	if !strings.Contains(glob, "/") {
		rel = path.Base(rel)
	}
	return doublestar.MatchUnvalidated(glob, rel) != not
}

// Run searches.
func (g grepFiles) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	m, err := compile(in)
	if err != nil {
		return tool.Execution{}, err
	}
	info, err := env.Files.Stat(*in.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tool.Execution{}, change.Missing(env.Files, *in.Path)
	case err != nil:
		return tool.Execution{}, err
	}
	a := newAnswer(in, info.Outside)
	if info.Mode.IsDir() {
		err = g.tree(ctx, env.Files, m, in, a)
	} else {
		err = one(env.Files, m, in, a)
	}
	switch {
	case ctx.Err() != nil:
		return tool.Execution{}, wire.Canceled(ctx.Err())
	case err != nil && walk.Ended(ctx, err):
		a.out.Partial, a.out.Truncated = true, true
		a.out.Note = fmt.Sprintf("the search stopped after %d s; give a folder as path or a glob", int(g.budget.Seconds()))
	case err != nil:
		return tool.Execution{}, err
	}
	return a.finish()
}

// one searches the file that was named, even if git ignores it.
func one(files tool.Files, m *matcher, in input, a *answer) error {
	s := searcher{files: files, matcher: m, in: in}
	r := s.file(*in.Path)
	if r.err != nil {
		return r.err
	}
	a.add(r)
	return nil
}

// answer collects results in order and bounds what is kept of them.
type answer struct {
	in    input
	out   output
	skip  walk.NotLookedAt
	bytes int
}

func newAnswer(in input, outside bool) *answer {
	a := &answer{in: in, out: output{Pattern: in.Pattern, Path: *in.Path, Outside: outside}}
	if in.FilesOnly {
		a.out.Files = &[]matched{}
	} else {
		a.out.Matches = &[]match{}
	}
	return a
}

func (a *answer) add(r result) {
	switch r.verdict {
	case binary:
		a.skip.Binary++
	case tooLarge:
		a.skip.TooLarge++
	case secret:
		a.skip.Secret++
	case unreadable:
		a.skip.Unreadable++
	case searched:
		a.out.FilesSearched++
		if a.in.FilesOnly {
			a.addFile(r)
		} else {
			a.addMatches(r)
		}
	}
}

func (a *answer) addFile(r result) {
	if r.count == 0 {
		return
	}
	a.out.Total++
	if a.bytes += len(r.path) + len("count=1  path=\n"); len(*a.out.Files) == a.in.Limit || a.bytes > maxBytes {
		a.out.Truncated = true
		return
	}
	*a.out.Files = append(*a.out.Files, matched{r.path, r.count})
}

func (a *answer) addMatches(r result) {
	a.out.Total += r.count
	for _, m := range r.matches {
		size := len(m.Path) + len(m.Text) + len("line=1000  path=  text=\n")
		for _, l := range append(m.Before, m.After...) {
			size += len(l) + len(`"",`)
		}
		if a.bytes += size; len(*a.out.Matches) == a.in.Limit || a.bytes > maxBytes {
			break
		}
		*a.out.Matches = append(*a.out.Matches, m)
	}
	a.out.Truncated = a.out.Total > len(*a.out.Matches)
}

// finish words the answer.
func (a *answer) finish() (tool.Execution, error) {
	if a.out.Truncated && !a.out.Partial {
		a.out.Note = "narrow the pattern, or give a folder as path or a glob, to see the rest"
	}
	a.out.NotLookedAt = a.skip.OrNil()
	o, err := wire.Out(a.out)
	b := ir.Block{Kind: ir.BlockTable, Title: a.in.Pattern, Header: []string{"path", "line", "text"}}
	if a.in.FilesOnly {
		b.Kind, b.Header = ir.BlockFiles, nil
		for _, f := range *a.out.Files {
			b.Rows = append(b.Rows, []string{f.Path})
		}
	} else {
		for _, m := range *a.out.Matches {
			b.Rows = append(b.Rows, []string{m.Path, fmt.Sprint(m.Line), m.Text})
		}
	}
	b.Omitted = int64(a.out.Total - len(b.Rows))
	return tool.Execution{Output: o, Blocks: []ir.Block{b}}, err
}
