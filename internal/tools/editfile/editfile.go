// Package editfile is the edit_file tool: text in a file replaced by other text,
// exactly, all or nothing (T-FILE-16..18). Nothing is ever applied by guess: a
// text that does not match is refused with the likeliest cause.
//
// Matching is done with LF line ends; what is not replaced keeps its bytes. It
// acts through tool.Env and imports engine/ir, engine/tool and the rooms of text
// beside it. Another cause of a mismatch is a row in causes.
package editfile

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/change"
	"car/internal/tools/textfile"
	"car/internal/tools/wire"
)

const (
	// diffBytes and snippetBytes bound what a model gets back.
	diffBytes    = 8 << 10
	snippetBytes = 8 << 10
	// around is how many unchanged lines a snippet shows on both sides.
	around = 4
	// listedMatches bounds the lines named for a text that is there several times.
	listedMatches = 10
)

const schema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to edit; it must have been read before."},
    "old_text": {"type": "string", "description": "Text to replace, exactly as in the file without line numbers, and only once there."},
    "new_text": {"type": "string", "description": "Text to put in its place."},
    "replace_all": {"type": "boolean", "description": "Replace every occurrence of old_text."},
    "edits": {
      "type": "array",
      "description": "Several edits of this file instead of old_text and new_text; applied in order, all or none.",
      "minItems": 1,
      "items": {
        "type": "object",
        "properties": {
          "old_text": {"type": "string", "description": "Text to replace."},
          "new_text": {"type": "string", "description": "Text to put in its place."},
          "replace_all": {"type": "boolean", "description": "Replace every occurrence."}
        },
        "required": ["old_text", "new_text"],
        "additionalProperties": false
      }
    }
  },
  "required": ["path"],
  "additionalProperties": false
}`

type edit struct {
	Old *string `json:"old_text"`
	New *string `json:"new_text"`
	All bool    `json:"replace_all"`
}

type input struct {
	Path  string `json:"path"`
	Edits []edit `json:"edits"`
	edit
}

// output has the names of T-FILE-16.
type output struct {
	Path         string `json:"path"`
	Replacements int    `json:"replacements"`
	Diff         string `json:"diff"`
	Snippet      string `json:"snippet"`
}

type editFile struct{}

// New returns the tool; it is always bound.
func New(tool.Bindings) tool.Tool { return editFile{} }

// Spec says what the tool is.
func (editFile) Spec() tool.Spec {
	return tool.Spec{
		Name: "edit_file",
		Description: "Replace text in a file that you have read. old_text must match exactly and be there once, " +
			"unless replace_all is set; give enough lines around it. Use edits for several changes of one file at once.",
		Parameters: json.RawMessage(schema), Effect: tool.Write, Category: "filesystem", Version: "1",
	}
}

// Effects declares that the file is read, since a result shows parts of it, and written.
func (editFile) Effects(call tool.Call) (tool.Effects, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Effects{}, err
	}
	return tool.Effects{Declared: true, Reads: []string{in.Path}, Writes: []string{in.Path}}, nil
}

func parse(call tool.Call) (input, error) {
	in, err := wire.In[input](call.Params)
	if err != nil {
		return in, err
	}
	single := in.Old != nil || in.New != nil || in.All
	switch {
	case in.Path == "":
		return in, wire.Bad("missing 'path' parameter")
	case single && in.Edits != nil:
		return in, wire.Bad("give either old_text and new_text, or edits")
	case single:
		in.Edits = []edit{in.edit}
	case len(in.Edits) == 0:
		return in, wire.Bad("missing 'old_text' and 'new_text' parameters")
	}
	for i, e := range in.Edits {
		switch {
		case e.Old == nil || e.New == nil:
			return in, wire.Bad("%sold_text and new_text are both needed", nth(i, in.Edits))
		case *e.Old == "":
			return in, wire.Bad("%sold_text is empty; name the text to replace, or use write_file", nth(i, in.Edits))
		case *e.Old == *e.New:
			return in, wire.Bad("%sold_text and new_text are the same; nothing would change", nth(i, in.Edits))
		}
	}
	return in, nil
}

// nth names an edit where there are several.
func nth(i int, edits []edit) string {
	if len(edits) == 1 {
		return ""
	}
	return fmt.Sprintf("edit %d of %d: ", i+1, len(edits))
}

// wholeFile reports whether an edit touches more than one place that was seen.
func (in input) wholeFile() bool {
	for _, e := range in.Edits {
		if e.All {
			return true
		}
	}
	return false
}

// Preview shows the whole diff (P-GUARD-2).
func (editFile) Preview(_ context.Context, call tool.Call, files tool.Files) ([]ir.Block, error) {
	in, err := parse(call)
	if err != nil {
		return nil, err
	}
	t, err := load(files, in.Path)
	if err != nil {
		return nil, err
	}
	after, _, err := in.apply(t.Text)
	if err != nil {
		return nil, err
	}
	return []ir.Block{{Kind: ir.BlockDiff, Title: in.Path, Text: textfile.Diff(in.Path, t.Text, after)}}, nil
}

func load(files tool.Files, path string) (change.Target, error) {
	t, err := change.Load(files, path)
	if err == nil && !t.Exists {
		err = change.Missing(files, path)
	}
	return t, err
}

// Run edits.
func (editFile) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	t, err := load(env.Files, in.Path)
	if err != nil {
		return tool.Execution{}, err
	}
	if err := t.Seen(env.Seen, in.wholeFile()); err != nil {
		return tool.Execution{}, err
	}
	after, count, err := in.apply(t.Text)
	if err != nil {
		return tool.Execution{}, err
	}
	raw, err := t.Encoding.Encode(after)
	if err != nil {
		return tool.Execution{}, wire.Fault(tool.Unsupported, "%q: %v; use other characters or convert the file with a command", in.Path, err)
	}
	if err := ctx.Err(); err != nil {
		return tool.Execution{}, wire.Canceled(err)
	}
	if err := t.Update(ctx, env, raw); err != nil {
		return tool.Execution{}, err
	}
	snippet, cut := textfile.CutLines(textfile.Snippet(t.Text, after, around), snippetBytes)
	if cut > 0 {
		snippet += fmt.Sprintf("… %d more lines\n", cut)
	}
	o, err := wire.Out(output{Path: in.Path, Replacements: count, Diff: textfile.ShortDiff(in.Path, t.Text, after, diffBytes), Snippet: snippet})
	return tool.Execution{Output: o, Blocks: []ir.Block{{Kind: ir.BlockDiff, Title: in.Path, Text: textfile.Diff(in.Path, t.Text, after)}}}, err
}

// apply puts the edits into text one after the other; an edit sees what those
// before it made. The first that does not fit refuses them all.
func (in input) apply(text string) (after string, count int, err error) {
	after = text
	for i, e := range in.Edits {
		view := textfile.NewView(after)
		old := textfile.ToLF(*e.Old)
		at := indexAll(view.LF, old)
		switch {
		case len(at) == 0:
			return "", 0, mismatch(in.Path, nth(i, in.Edits), view.LF, old)
		case len(at) > 1 && !e.All:
			return "", 0, ambiguous(in.Path, nth(i, in.Edits), view.LF, at)
		}
		changes := make([]textfile.Change, len(at))
		for j, p := range at {
			changes[j] = textfile.Change{Start: p, End: p + len(old), New: textfile.ToLF(*e.New)}
		}
		after, count = view.Splice(changes), count+len(at)
	}
	if after == text {
		return "", 0, wire.Bad("the edits of %q cancel out; nothing would change", in.Path)
	}
	return after, count, nil
}

// indexAll finds all places of old that do not overlap.
func indexAll(text, old string) []int {
	var at []int
	for i := 0; ; {
		j := strings.Index(text[i:], old)
		if j < 0 {
			return at
		}
		at = append(at, i+j)
		i += j + len(old)
	}
}

// ambiguous refuses a text that is there several times and says where (T-FILE-16).
func ambiguous(path, which, text string, at []int) error {
	var lines []string
	for _, p := range at[:min(len(at), listedMatches)] {
		lines = append(lines, fmt.Sprint(textfile.LineAt(text, p)))
	}
	more := ""
	if len(at) > listedMatches {
		more = ", …"
	}
	return wire.Bad("%sold_text is %d times in %q (lines %s%s); nothing was changed.\nGive more lines around it, or set replace_all.",
		which, len(at), path, strings.Join(lines, ", "), more)
}
