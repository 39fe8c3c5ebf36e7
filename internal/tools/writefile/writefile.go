// Package writefile is the write_file tool: a whole file, or text at the end of
// one (T-FILE-15). An existing file is overwritten only after this session has
// seen all of it as it is (T-FILE-9).
//
// It acts through tool.Env and imports engine/ir, engine/tool and the rooms of
// text beside it.
package writefile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/change"
	"car/internal/tools/textfile"
	"car/internal/tools/wire"
)

// diffBytes bounds the diff that a model gets back.
const diffBytes = 8 << 10

const schema = `{
  "type": "object",
  "properties": {
    "path": {"type": "string", "description": "File to write, relative to the working directory or absolute inside it. Folders are made."},
    "content": {"type": "string", "description": "The whole new content, or what to add with append. Never leave parts out."},
    "append": {"type": "boolean", "description": "Add content at the end instead of replacing the file."}
  },
  "required": ["path", "content"],
  "additionalProperties": false
}`

type input struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
	Append  bool    `json:"append"`
}

// output has the names of T-FILE-15.
type output struct {
	Path    string `json:"path"`
	Created bool   `json:"created"`
	Changed bool   `json:"changed"`
	Bytes   int    `json:"bytes"`
	Diff    string `json:"diff"`
	Note    string `json:"note,omitempty"`
}

type writeFile struct{}

// New returns the tool; it is always bound.
func New(tool.Bindings) tool.Tool { return writeFile{} }

// Spec says what the tool is.
func (writeFile) Spec() tool.Spec {
	return tool.Spec{
		Name: "write_file",
		Description: "Write a text file: a new one, or all of one that you have read completely. " +
			"For a change inside a file use edit_file. The previous encoding and line ends are kept.",
		Parameters: json.RawMessage(schema), Effect: tool.Write, Category: "filesystem", Version: "1",
	}
}

// Effects declares one write.
func (writeFile) Effects(call tool.Call) (tool.Effects, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Effects{}, err
	}
	return tool.Effects{Declared: true, Writes: []string{in.Path}}, nil
}

func parse(call tool.Call) (input, error) {
	in, err := wire.In[input](call.Params)
	switch {
	case err != nil:
		return in, err
	case in.Path == "":
		return in, wire.Bad("missing 'path' parameter")
	case in.Content == nil:
		return in, wire.Bad("missing 'content' parameter")
	case len(*in.Content) > change.MaxBytes:
		return in, wire.Fault(tool.TooLarge, "content is %d bytes, %d MiB at most; produce the file with a command instead", len(*in.Content), change.MaxBytes>>20)
	}
	return in, nil
}

// plan is what a call would make of what is there.
type plan struct {
	target  change.Target
	content []byte
	text    string
	note    string
	changed bool
}

// Preview shows the whole diff, since an approval must not be given from a
// shortened view (P-GUARD-2).
func (writeFile) Preview(_ context.Context, call tool.Call, files tool.Files) ([]ir.Block, error) {
	in, err := parse(call)
	if err != nil {
		return nil, err
	}
	p, err := prepare(files, in)
	if err != nil {
		return nil, err
	}
	return []ir.Block{{Kind: ir.BlockDiff, Title: in.Path, Text: p.diff()}}, nil
}

func (p plan) diff() string { return textfile.Diff(p.target.Path, p.target.Text, p.text) }

// prepare works out the new content without changing anything.
func prepare(files tool.Files, in input) (plan, error) {
	t, err := change.Load(files, in.Path)
	if err != nil {
		return plan{}, err
	}
	p := plan{target: t, text: *in.Content, changed: true}
	if !t.Exists {
		p.content = []byte(p.text)
		return p, nil
	}
	p.convertEnds()
	if in.Append {
		if t.Text != "" && !strings.HasSuffix(t.Text, "\n") {
			p.say("the file had no line end at its end, so the text goes on in its last line")
		}
		p.text = t.Text + p.text
	}
	if p.content, err = t.Encoding.Encode(p.text); err != nil {
		return p, wire.Fault(tool.Unsupported, "%q: %v; use other characters or convert the file with a command", in.Path, err)
	}
	p.changed = string(p.content) != string(t.Raw)
	if !in.Append {
		err = refuseElision(in.Path, t.Text, p.text)
	}
	return p, err
}

// convertEnds gives LF text the line ends of a file that has only CRLF.
func (p *plan) convertEnds() {
	if textfile.EOL(p.target.Text) != "crlf" || textfile.EOL(p.text) != "lf" {
		return
	}
	p.text = strings.ReplaceAll(p.text, "\n", "\r\n")
	p.say("line ends were converted to CRLF, which the file has")
}

func (p *plan) say(note string) {
	if p.note != "" {
		p.note += "; "
	}
	p.note += note
}

// elision is a comment that stands for code which the writer left out.
var elision = regexp.MustCompile(`(?im)^[ \t]*(?:(?://|#|--|/\*|<!--|;|%|\{/\*)[ \t]*)?(?:\.{3}|…)[ \t]*\(?(?:the )?(?:rest|remaining|remainder|existing|other|previous|same|unchanged|original|keep|code)\b` +
	`|^[ \t]*(?://|#|--|/\*|<!--|;|%|\{/\*)[ \t]*\(?(?:the )?(?:rest|remainder) of (?:the )?(?:file|code|function|class|content|module|method)\b` +
	`|^[ \t]*(?://|#|--|/\*|<!--|;|%|\{/\*)[ \t]*(?:existing|previous|unchanged|same) (?:code|content|lines|imports|methods|functions)(?: as before| here| unchanged| remains?)?[ \t.…]*(?:\*/|-->|\*/\})?[ \t]*$`)

// refuseElision refuses content which leaves out most of a file behind a comment
// that says so: it would delete what it only meant to skip.
func refuseElision(path, before, after string) error {
	if len(after)*10 >= len(before)*6 {
		return nil
	}
	at := elision.FindStringIndex(after)
	if at == nil {
		return nil
	}
	line := strings.TrimSpace(strings.SplitN(after[at[0]:], "\n", 2)[0])
	return wire.Bad("content for %q says %q and is much shorter than the file (%d of %d bytes); nothing was written.\n"+
		"Give the whole content, or use edit_file for a part of it.", path, clip(line), len(after), len(before))
}

func clip(line string) string {
	head, cut := textfile.Clip(line, 80)
	if cut > 0 {
		head += "…"
	}
	return head
}

// Run writes.
func (writeFile) Run(ctx context.Context, call tool.Call, env tool.Env) (tool.Execution, error) {
	in, err := parse(call)
	if err != nil {
		return tool.Execution{}, err
	}
	if info, err := env.Files.Stat(in.Path); err == nil && info.Secret {
		return replaceSecret(ctx, env, in)
	}
	p, err := prepare(env.Files, in)
	if err != nil {
		return tool.Execution{}, err
	}
	if err := ctx.Err(); err != nil {
		return tool.Execution{}, wire.Canceled(err)
	}
	if p.changed {
		if p.target.Exists {
			err = p.target.Seen(env.Seen, true)
		}
		if err == nil {
			err = p.target.Commit(ctx, env, p.content)
		}
	}
	if err != nil {
		return tool.Execution{}, err
	}
	diff := p.diff()
	out := output{Path: in.Path, Created: !p.target.Exists, Changed: p.changed, Bytes: len(p.content), Diff: short(p), Note: p.note}
	o, err := wire.Out(out)
	return tool.Execution{Output: o, Blocks: []ir.Block{{Kind: ir.BlockDiff, Title: in.Path, Text: diff}}}, err
}

// short is the diff for the model, which need not see its own new file again.
func short(p plan) string {
	if !p.target.Exists {
		return fmt.Sprintf("new file, %d lines\n", textfile.CountLines(p.text))
	}
	return textfile.ShortDiff(p.target.Path, p.target.Text, p.text, diffBytes)
}

// replaceSecret puts content over a secret file, which a person approved and
// nobody may read: its digest comes from the refusal of a write that expects
// nothing there, and no word of it is shown (T-FILE-5).
func replaceSecret(ctx context.Context, env tool.Env, in input) (tool.Execution, error) {
	if in.Append {
		return tool.Execution{}, wire.Fault(tool.Denied, "%q holds secrets; it can be replaced, not appended to", in.Path)
	}
	content := []byte(*in.Content)
	_, err := env.Writer.Replace(ctx, in.Path, tool.Replacement{Content: content})
	var stale *tool.StaleError
	if errors.As(err, &stale) && stale.Fresh != nil {
		_, err = env.Writer.Replace(ctx, in.Path, tool.Replacement{Content: content, Expect: ir.DigestBytes(stale.Fresh)})
	}
	if errors.As(err, &stale) {
		return tool.Execution{}, wire.Fault(tool.Stale, "%q changed while it was being replaced; nothing was written", in.Path)
	}
	if err != nil {
		return tool.Execution{}, err
	}
	o, err := wire.Out(output{Path: in.Path, Changed: true, Bytes: len(content), Diff: "(a secret file is not shown)\n"})
	return tool.Execution{Output: o, Blocks: []ir.Block{{Kind: ir.BlockFiles, Title: "replaced", Rows: [][]string{{in.Path}}}}}, err
}
