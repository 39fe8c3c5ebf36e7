// Package change takes an existing file to new content: it reads what is there,
// makes sure that this session has seen it (T-FILE-9), writes, and tells a model
// what is in the file when somebody else was faster (T-FILE-8).
//
// write_file and edit_file stand on it. It acts through tool.Env only and
// imports engine/ir, engine/tool and the text mechanics beside it.
package change

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/textfile"
	"car/internal/tools/wire"
)

const (
	// MaxBytes is the largest file that is loaded, edited or written.
	MaxBytes = 10 << 20
	// keepBytes is the largest content that a reading keeps for a later diff.
	keepBytes = 64 << 10
	// staleLines bounds the diff or the content that a stale refusal shows.
	staleLines = 40
)

// Target is a file that a call is about to change, as it is now.
type Target struct {
	Path   string
	Exists bool
	// The rest is zero when the file does not exist.
	Info     tool.Info
	Raw      []byte
	Digest   ir.Digest
	Encoding textfile.Encoding
	// Text is Raw decoded, with its line ends as they are.
	Text string
}

// Load reads what is at path. A missing file is a Target that does not exist; a
// binary file, a file of unknown encoding and one over MaxBytes are faults.
func Load(files tool.Files, path string) (Target, error) {
	t := Target{Path: path}
	f, err := files.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return t, err
	}
	defer f.Close()
	t.Exists, t.Info = true, f.Info()
	t.Raw, err = io.ReadAll(io.LimitReader(f, MaxBytes+1))
	switch {
	case err != nil:
		return t, wire.Fault(tool.Failed, "read %q: %v", path, err)
	case len(t.Raw) > MaxBytes:
		return t, wire.Fault(tool.TooLarge, "%q is over %d MiB; change it with a command instead", path, MaxBytes>>20)
	case textfile.Binary(t.Raw):
		return t, wire.Fault(tool.Unsupported, "%q is binary (%s); file tools change text only", path, textfile.Kind(t.Raw))
	}
	t.Digest = ir.DigestBytes(t.Raw)
	if t.Encoding, t.Text = textfile.Decode(t.Raw); t.Encoding == textfile.Unknown {
		return t, wire.Fault(tool.Unsupported, "the encoding of %q is unknown, so that a change could damage it; convert it with a command first", path)
	}
	return t, nil
}

// Seen refuses a change to what this session has not seen as it is now. full
// demands that all of it was shown.
func (t Target) Seen(ledger tool.Ledger, full bool) error {
	r, found := ledger.Lookup(t.Info.Key)
	switch {
	case !found:
		return wire.Fault(tool.Stale, "read %q with read_file before editing it; this session has not seen it", t.Path)
	case r.Digest != t.Digest:
		return t.stale(ledger, r.Content)
	case full && !r.Full:
		return wire.Fault(tool.Stale, "read all of %q with read_file before editing it as a whole; only a part was shown", t.Path)
	}
	return nil
}

// Note records that all of content was shown, or is ours.
func Note(ledger tool.Ledger, key string, content []byte, r tool.Reading) {
	r.Digest = ir.DigestBytes(content)
	if len(content) <= keepBytes {
		r.Content = content
	}
	ledger.Note(key, r)
}

// Commit writes all of content over the target, or where nothing was. It counts
// as seen afterwards, since it is ours.
func (t Target) Commit(ctx context.Context, env tool.Env, content []byte) error {
	return t.replace(ctx, env, content, tool.Reading{Full: true})
}

// Update writes content of which the caller made only a part. What this session
// had seen of the file before is what it has seen now.
func (t Target) Update(ctx context.Context, env tool.Env, content []byte) error {
	before, _ := env.Seen.Lookup(t.Info.Key)
	return t.replace(ctx, env, content, tool.Reading{Full: before.Full})
}

func (t Target) replace(ctx context.Context, env tool.Env, content []byte, r tool.Reading) error {
	_, err := env.Writer.Replace(ctx, t.Path, tool.Replacement{Content: content, Expect: t.Digest})
	var stale *tool.StaleError
	if errors.As(err, &stale) {
		return t.overtaken(env, stale)
	}
	if err != nil {
		return err
	}
	info, err := env.Files.Stat(t.Path)
	if err != nil {
		// Written, but gone or hidden again: there is nothing to remember.
		return nil
	}
	Note(env.Seen, info.Key, content, r)
	return nil
}

// overtaken words a write that lost against somebody else's.
func (t Target) overtaken(env tool.Env, s *tool.StaleError) error {
	if s.Fresh == nil {
		return wire.Fault(tool.Stale, "%q was removed since it was read; nothing was written", t.Path)
	}
	before := t.Raw
	if !t.Exists {
		before = nil
	}
	fresh := t
	fresh.Raw, fresh.Digest = s.Fresh, ir.DigestBytes(s.Fresh)
	fresh.Encoding, fresh.Text = textfile.Decode(s.Fresh)
	if info, err := env.Files.Stat(t.Path); err == nil {
		fresh.Info = info
	}
	return fresh.stale(env.Seen, before)
}

// stale refuses and shows what is there now: as a diff against what was seen,
// where that is known, else as content. What was shown counts as read.
func (t Target) stale(ledger tool.Ledger, before []byte) error {
	text := fmt.Sprintf("%q changed since it was read; nothing was written.", t.Path)
	if t.Info.Secret || textfile.Binary(t.Raw) {
		return &tool.Fault{Kind: tool.Stale, Text: text}
	}
	if before != nil {
		_, old := textfile.Decode(before)
		diff := textfile.Diff(t.Path, old, t.Text)
		kept, cut := firstLines(diff, staleLines)
		if cut == 0 {
			Note(ledger, t.Info.Key, t.Raw, tool.Reading{})
			return &tool.Fault{
				Kind: tool.Stale, Text: text + "\nThe diff shows how it differs now; repeat the edit against that.",
				Output: map[string]any{"path": t.Path, "diff": kept},
			}
		}
		return &tool.Fault{
			Kind: tool.Stale, Text: text + "\nRead it again with read_file.",
			Output: map[string]any{"path": t.Path, "diff": kept + fmt.Sprintf("… %d more lines of diff\n", cut), "truncated": true},
		}
	}
	lines := textfile.Lines(t.Text)
	shown := lines[:min(len(lines), staleLines)]
	out := map[string]any{"path": t.Path, "content": textfile.Numbered(shown, 1), "total_lines": float64(len(lines))}
	if len(shown) == len(lines) && len(t.Text) <= 16<<10 {
		Note(ledger, t.Info.Key, t.Raw, tool.Reading{Full: true})
		return &tool.Fault{Kind: tool.Stale, Text: text + "\nIts content now is shown; repeat the change against that.", Output: out}
	}
	out["truncated"] = true
	return &tool.Fault{Kind: tool.Stale, Text: text + "\nRead it again with read_file.", Output: out}
}

func firstLines(text string, max int) (kept string, cut int) {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) <= max {
		return text, 0
	}
	return strings.Join(lines[:max], ""), len(lines) - max
}
