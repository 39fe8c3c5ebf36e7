// Package readfile is the read_file tool: a file or a part of one, as numbered
// lines (T-FILE-14). What it shows is what this session has seen: only that may
// be edited afterwards.
//
// It acts through tool.Env and imports engine/ir, engine/tool and the rooms of
// text beside it.
package readfile

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/change"
	"car/internal/tools/textfile"
	"car/internal/tools/wire"
)

const (
	// maxLines and maxBytes bound one answer; windowBytes bounds a byte window.
	maxLines    = 2000
	maxBytes    = 48 << 10
	windowBytes = 48 << 10
	// maxChars clips a line.
	maxChars = 2000
	// loadBytes is the largest file that is held in memory; larger ones are paged from disk.
	loadBytes = 10 << 20
)

const schema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to read, relative to the working directory or absolute."},
    "offset": {"type": "integer", "minimum": 1, "description": "First line to show, counted from 1."},
    "limit": {"type": "integer", "minimum": 1, "maximum": 2000, "description": "How many lines to show, 2000 at most."},
    "byte_offset": {"type": "integer", "minimum": 0, "description": "Show raw text from this byte on instead of lines, for very long lines."}
  },
  "required": ["path"],
  "additionalProperties": false
}`

type input struct {
	Path       string `json:"path"`
	Offset     int    `json:"offset"`
	Limit      int    `json:"limit"`
	ByteOffset *int64 `json:"byte_offset"`
}

// output has the names of T-FILE-14.
type output struct {
	Path       string `json:"path"`
	Content    string `json:"content"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	TotalLines *int   `json:"total_lines,omitempty"`
	Truncated  bool   `json:"truncated"`
	NextOffset int    `json:"next_offset,omitempty"`
	ByteOffset int64  `json:"byte_offset,omitempty"`
	Encoding   string `json:"encoding"`
	EOL        string `json:"eol"`
	Bytes      int64  `json:"bytes"`
	// Outside says that the text is from outside the working directory and is data, not instructions.
	Outside bool `json:"outside,omitempty"`
}

// binaryOutput describes what has no text (T-FILE-12).
type binaryOutput struct {
	Path   string    `json:"path"`
	Binary bool      `json:"binary"`
	Type   string    `json:"type"`
	Bytes  int64     `json:"bytes"`
	SHA256 ir.Digest `json:"sha256"`
}

type readFile struct{}

// New returns the tool; it is always bound.
func New(tool.Bindings) tool.Tool { return readFile{} }

// Spec says what the tool is.
func (readFile) Spec() tool.Spec {
	return tool.Spec{
		Name: "read_file",
		Description: "Read a text file. Lines come numbered as `cat -n` does; the numbers are not part of the file. " +
			"Shows up to 2000 lines or 48 KiB and says with next_offset how to go on. Read a file before you edit it.",
		Parameters: json.RawMessage(schema), Effect: tool.Read, Category: "filesystem", Version: "1",
	}
}

// Effects declares one read.
func (readFile) Effects(call tool.Call) (tool.Effects, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Effects{}, err
	}
	return tool.Effects{Declared: true, Reads: []string{in.Path}}, nil
}

func parse(call tool.Call) (input, error) {
	in, err := wire.In[input](call.Params)
	switch {
	case err != nil:
		return in, err
	case in.Path == "":
		return in, wire.Bad("missing 'path' parameter")
	case in.ByteOffset != nil && (in.Offset != 0 || in.Limit != 0):
		return in, wire.Bad("give either byte_offset or offset and limit")
	}
	in.Offset = max(in.Offset, 1)
	if in.Limit == 0 || in.Limit > maxLines {
		in.Limit = maxLines
	}
	return in, nil
}

// Run reads.
func (readFile) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	f, err := env.Files.Open(in.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return tool.Execution{}, change.Missing(env.Files, in.Path)
	}
	if err != nil {
		return tool.Execution{}, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, loadBytes+1))
	if err != nil {
		return tool.Execution{}, wire.Fault(tool.Failed, "read %q: %v", in.Path, err)
	}
	if textfile.Binary(raw) {
		return binary(in, f, raw)
	}
	if len(raw) > loadBytes {
		return pageFromDisk(ctx, in, f, raw[:64<<10])
	}
	if in.ByteOffset != nil {
		return window(env, in, f.Info(), raw)
	}
	return page(env, in, f.Info(), raw)
}

// binary answers with what can be said without content.
func binary(in input, f tool.File, raw []byte) (tool.Execution, error) {
	info := f.Info()
	out := binaryOutput{Path: in.Path, Binary: true, Type: textfile.Kind(raw), Bytes: int64(len(raw))}
	if len(raw) > loadBytes {
		out.Bytes = info.Size
	} else {
		out.SHA256 = ir.DigestBytes(raw)
	}
	o, err := wire.Out(out)
	return tool.Execution{Output: o, Blocks: []ir.Block{{Kind: ir.BlockFiles, Rows: [][]string{{in.Path}}}}}, err
}

// done makes the execution of an answer.
func done(out output) (tool.Execution, error) {
	o, err := wire.Out(out)
	return tool.Execution{Output: o, Blocks: []ir.Block{{Kind: ir.BlockText, Title: out.Path, Text: out.Content}}}, err
}
