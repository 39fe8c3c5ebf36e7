// Package listdir is the list_dir tool: what is in a folder, up to three folders
// deep (T-FILE-19).
//
// It acts through tool.Env and imports engine/ir, engine/tool and the walk beside it.
package listdir

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/change"
	"car/internal/tools/walk"
	"car/internal/tools/wire"
)

const (
	maxEntries = 500
	maxDepth   = 3
	// maxBytes bounds the names of an answer (T-REND-3).
	maxBytes = 14 << 10
)

const schema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "Folder to list, the working directory unless given."},
    "depth": {"type": "integer", "minimum": 1, "maximum": 3, "description": "How many folders deep, 1 unless given."},
    "hidden": {"type": "boolean", "description": "Show names that begin with a dot too."}
  },
  "additionalProperties": false
}`

type input struct {
	Path   *string `json:"path"`
	Depth  int     `json:"depth"`
	Hidden bool    `json:"hidden"`
}

type output struct {
	Path        string            `json:"path"`
	Entries     []entry           `json:"entries"`
	Total       int               `json:"total"`
	Truncated   bool              `json:"truncated"`
	Note        string            `json:"note,omitempty"`
	NotLookedAt *walk.NotLookedAt `json:"not_looked_at,omitempty"`
}

type entry struct {
	Path string `json:"path"`
	// Type is file, dir, link or special.
	Type string `json:"type"`
	// Size is in bytes, for files.
	Size *int64 `json:"size,omitempty"`
}

type listDir struct{ ignore string }

// New returns the tool; it is always bound.
func New(b tool.Bindings) tool.Tool { return listDir{ignore: b.GlobalIgnore} }

// Spec says what the tool is.
func (listDir) Spec() tool.Spec {
	return tool.Spec{
		Name: "list_dir",
		Description: "List a folder, in order of names. Files that git ignores and hidden ones are left out and counted; " +
			"links are shown and not followed.",
		Parameters: json.RawMessage(schema), Effect: tool.Read, Category: "filesystem", CountField: "total", Version: "1",
	}
}

// Effects declares one read.
func (listDir) Effects(call tool.Call) (tool.Effects, error) {
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
	case in.Depth < 0 || in.Depth > maxDepth:
		return in, wire.Bad("depth is from 1 to %d; use find_files for deeper trees", maxDepth)
	}
	in.Depth = max(in.Depth, 1)
	return in, nil
}

// Run lists.
func (l listDir) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	out := output{Path: *in.Path, Entries: []entry{}}
	bytes := 0
	skipped, err := walk.Tree(ctx, env.Files, *in.Path, walk.Options{SkipHidden: !in.Hidden, Depth: in.Depth, GlobalIgnore: l.ignore}, func(e walk.Entry) error {
		out.Total++
		if bytes += len(e.Path) + len("path=  size=1000  type=file\n"); len(out.Entries) == maxEntries || bytes > maxBytes {
			out.Truncated = true
			return nil
		}
		out.Entries = append(out.Entries, describe(e))
		return nil
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tool.Execution{}, change.Missing(env.Files, *in.Path)
	case ctx.Err() != nil:
		return tool.Execution{}, wire.Canceled(ctx.Err())
	case err != nil:
		return tool.Execution{}, err
	}
	if out.Truncated {
		out.Note = "list a folder below it, or a smaller depth, to see the rest"
	}
	out.NotLookedAt = skipped.NotLookedAt().OrNil()
	o, err := wire.Out(out)
	return tool.Execution{Output: o, Blocks: []ir.Block{block(out)}}, err
}

func describe(e walk.Entry) entry {
	switch mode := e.Dir.Type(); {
	case mode.IsDir():
		return entry{Path: e.Path, Type: "dir"}
	case mode&fs.ModeSymlink != 0:
		return entry{Path: e.Path, Type: "link"}
	case !mode.IsRegular():
		return entry{Path: e.Path, Type: "special"}
	}
	found := entry{Path: e.Path, Type: "file"}
	if info, err := e.Dir.Info(); err == nil {
		size := info.Size()
		found.Size = &size
	}
	return found
}

func block(out output) ir.Block {
	b := ir.Block{Kind: ir.BlockFiles, Title: out.Path, Omitted: int64(out.Total - len(out.Entries))}
	for _, e := range out.Entries {
		name := e.Path
		if e.Type == "dir" {
			name += "/"
		}
		b.Rows = append(b.Rows, []string{name})
	}
	return b
}
