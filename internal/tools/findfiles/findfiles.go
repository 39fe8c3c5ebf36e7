// Package findfiles is the find_files tool: files whose path fits a glob
// (T-FILE-19, T-FILE-20).
//
// It acts through tool.Env and imports engine/ir, engine/tool and the walk beside it.
package findfiles

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path"
	"slices"
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
	maxFiles = 200
	// maxBytes bounds the paths of an answer (T-REND-3).
	maxBytes = 14 << 10
	// budget is how long a search goes on before it answers with what it has.
	budget = 10 * time.Second
)

const schema = `{
  "type": "object",
  "properties": {
    "pattern": {"type": "string", "description": "Glob such as **/*.go, src/*_test.{ts,tsx} or Makefile. Without a slash it fits names at any depth."},
    "path": {"type": "string", "description": "Folder to search in, the working directory unless given."},
    "include_ignored": {"type": "boolean", "description": "Look at files that git ignores too."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "How many paths to show, 200 at most."}
  },
  "required": ["pattern"],
  "additionalProperties": false
}`

type input struct {
	Pattern        string  `json:"pattern"`
	Path           *string `json:"path"`
	IncludeIgnored bool    `json:"include_ignored"`
	Limit          int     `json:"limit"`
}

type output struct {
	Pattern     string            `json:"pattern"`
	Path        string            `json:"path"`
	Files       []string          `json:"files"`
	Total       int               `json:"total"`
	Truncated   bool              `json:"truncated"`
	Partial     bool              `json:"partial,omitempty"`
	Note        string            `json:"note,omitempty"`
	NotLookedAt *walk.NotLookedAt `json:"not_looked_at,omitempty"`
}

type findFiles struct {
	ignore string
	budget time.Duration
}

// New returns the tool; it is always bound.
func New(b tool.Bindings) tool.Tool { return findFiles{ignore: b.GlobalIgnore, budget: budget} }

// Spec says what the tool is.
func (findFiles) Spec() tool.Spec {
	return tool.Spec{
		Name: "find_files",
		Description: "Find files by a glob over their paths, in order of paths. Files that git ignores are left out and counted; " +
			"total counts all matches.",
		Parameters: json.RawMessage(schema), Effect: tool.Read, Category: "filesystem", CountField: "total", Version: "1",
	}
}

// Effects declares one read.
func (findFiles) Effects(call tool.Call) (tool.Effects, error) {
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
	in.Pattern = strings.TrimPrefix(in.Pattern, "./")
	switch {
	case in.Pattern == "":
		return in, wire.Bad("missing 'pattern' parameter")
	case strings.HasPrefix(in.Pattern, "/") || slices.Contains(strings.Split(in.Pattern, "/"), ".."):
		return in, wire.Bad("pattern %q leaves the folder it is for; give the folder as path", in.Pattern)
	case !doublestar.ValidatePattern(in.Pattern):
		return in, wire.Bad("pattern %q is no glob; check its brackets and braces", in.Pattern)
	case in.Limit < 0 || in.Limit > maxFiles:
		return in, wire.Bad("limit is from 1 to %d", maxFiles)
	}
	if in.Limit == 0 {
		in.Limit = maxFiles
	}
	return in, nil
}

// fits matches a path below the start, or a name where the pattern has no slash.
func (in input) fits(rel string) bool {
	if !strings.Contains(in.Pattern, "/") {
		rel = path.Base(rel)
	}
	return doublestar.MatchUnvalidated(in.Pattern, rel)
}

// start is the folder a walk has to begin at: the literal beginning of a
// pattern needs no look at what lies beside it.
func (in input) start() (folder, prefix string) {
	base, _ := doublestar.SplitPattern(in.Pattern)
	if base == "." || strings.ContainsAny(base, `\*?[{`) {
		return *in.Path, ""
	}
	return path.Join(*in.Path, base), base
}

// Run searches.
func (f findFiles) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	if info, err := env.Files.Stat(*in.Path); errors.Is(err, fs.ErrNotExist) {
		return tool.Execution{}, change.Missing(env.Files, *in.Path)
	} else if err != nil {
		return tool.Execution{}, err
	} else if !info.Mode.IsDir() {
		return tool.Execution{}, wire.Fault(tool.BadArgs, "%q is a file; give a folder as path", *in.Path)
	}
	out := output{Pattern: in.Pattern, Path: *in.Path, Files: []string{}}
	limited, cancel := context.WithTimeout(ctx, f.budget)
	defer cancel()
	skipped, err := f.search(limited, env.Files, in, &out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		// The literal beginning of the pattern is not there, so nothing fits.
	case ctx.Err() != nil:
		return tool.Execution{}, wire.Canceled(ctx.Err())
	case err != nil && walk.Ended(ctx, err):
		out.Partial, out.Truncated = true, true
		out.Note = "the search took too long and stopped; give a folder as path"
	case err != nil:
		return tool.Execution{}, err
	}
	if out.Truncated && !out.Partial {
		out.Note = "give a narrower pattern or a folder as path to see the rest"
	}
	out.NotLookedAt = skipped.NotLookedAt().OrNil()
	o, err := wire.Out(out)
	b := ir.Block{Kind: ir.BlockFiles, Title: in.Pattern, Omitted: int64(out.Total - len(out.Files))}
	for _, name := range out.Files {
		b.Rows = append(b.Rows, []string{name})
	}
	return tool.Execution{Output: o, Blocks: []ir.Block{b}}, err
}

func (f findFiles) search(ctx context.Context, files tool.Files, in input, out *output) (walk.Skipped, error) {
	start, prefix := in.start()
	if info, err := files.Stat(start); err == nil && !info.Mode.IsDir() {
		if in.fits(prefix) {
			out.Files, out.Total = append(out.Files, start), 1
		}
		return walk.Skipped{}, nil
	}
	bytes := 0
	return walk.Tree(ctx, files, start, walk.Options{IncludeIgnored: in.IncludeIgnored, GlobalIgnore: f.ignore}, func(e walk.Entry) error {
		if e.Dir.IsDir() || !in.fits(path.Join(prefix, e.Rel)) {
			return nil
		}
		out.Total++
		if bytes += len(e.Path) + len(`"",`); len(out.Files) == in.Limit || bytes > maxBytes {
			out.Truncated = true
			return nil
		}
		out.Files = append(out.Files, e.Path)
		return nil
	})
}
