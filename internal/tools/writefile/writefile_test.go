package writefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/readfile"
	"car/internal/tools/tooltest"
)

func TestSuite(t *testing.T) {
	t.Parallel()
	h := tooltest.Open(t, time.Now)
	tooltest.Suite(t, tooltest.Case{
		Tool: New(tool.Bindings{}), House: h,
		Good: []map[string]any{{"path": "a/b.txt", "content": "x\n"}, {"path": "a/b.txt", "content": "y\n", "append": true}, {"path": "e", "content": ""}},
		Bad:  []map[string]any{{}, {"path": "a"}, {"content": "x"}, {"path": "", "content": "x"}, {"path": "a", "content": 3.0}, {"path": "a", "content": "x", "append": "yes"}},
	})
}

func bench(t *testing.T) (h *tooltest.House, wf, rf tool.Tool) {
	t.Helper()
	t.Parallel()
	return tooltest.Open(t, time.Now), New(tool.Bindings{}), readfile.New(tool.Bindings{})
}

// T-FILE-15: created with its folders, then changed, then the same.
func TestCreateChangeSame(t *testing.T) {
	h, wf, _ := bench(t)
	out := h.Must(t, wf, map[string]any{"path": "docs/new/page.md", "content": "one\ntwo\n"})
	if out["created"] != true || out["changed"] != true || out["bytes"] != 8.0 || h.Get(t, "docs/new/page.md") != "one\ntwo\n" {
		t.Errorf("create: %v", out)
	}
	out = h.Must(t, wf, map[string]any{"path": "docs/new/page.md", "content": "one\n2\n"})
	if out["created"] != false || out["changed"] != true || !strings.Contains(out["diff"].(string), "-two\n+2\n") {
		t.Errorf("change after own write: %v", out)
	}
	out = h.Must(t, wf, map[string]any{"path": "docs/new/page.md", "content": "one\n2\n"})
	if out["changed"] != false || out["diff"] != "" {
		t.Errorf("same bytes: %v", out)
	}
}

// T-FILE-9: an existing file is overwritten or extended only after all of it was read.
func TestOverwriteNeedsAFullRead(t *testing.T) {
	h, wf, rf := bench(t)
	h.Put(t, "f.txt", strings.Repeat("line\n", 10))
	over := map[string]any{"path": "f.txt", "content": "new\n"}
	more := map[string]any{"path": "f.txt", "content": "more\n", "append": true}
	h.Fails(t, wf, over, tool.Stale, "before editing it")
	h.Fails(t, wf, more, tool.Stale, "before editing it")
	h.Must(t, rf, map[string]any{"path": "f.txt", "limit": 2.0})
	h.Fails(t, wf, over, tool.Stale, "read all of")
	h.Fails(t, wf, more, tool.Stale, "read all of")
	h.Must(t, rf, map[string]any{"path": "f.txt"})
	h.Must(t, wf, more)
	h.Must(t, wf, over)
	if got := h.Get(t, "f.txt"); got != "new\n" {
		t.Errorf("got %q", got)
	}
	h.Seen = tooltest.NewLedger()
	h.Fails(t, wf, over2("f.txt"), tool.Stale, "before editing it")
}

func over2(path string) map[string]any { return map[string]any{"path": path, "content": "other\n"} }

// B029, P-WORK-5: rewritten from outside is refused with what is there now; a
// touched time is not a change.
func TestB029ChangedSinceRead(t *testing.T) {
	h, wf, rf := bench(t)
	path := h.Put(t, "menu.txt", "soup\nbread\n")
	h.Must(t, rf, map[string]any{"path": "menu.txt"})
	later := time.Unix(2_000_000_000, 0)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	h.Must(t, wf, map[string]any{"path": "menu.txt", "content": "soup\ncake\n"})
	h.Put(t, "menu.txt", "soup\nfish\n")
	f := h.Fails(t, wf, over2("menu.txt"), tool.Stale, "changed since it was read", "nothing was written")
	if diff := f.Output.(map[string]any)["diff"].(string); !strings.Contains(diff, "-cake\n+fish\n") {
		t.Errorf("no fresh content offered: %v", f.Output)
	}
	if h.Get(t, "menu.txt") != "soup\nfish\n" {
		t.Error("the other's work is gone")
	}
	// A diff that was shown is a partial reading: an overwrite still needs the whole.
	h.Fails(t, wf, over2("menu.txt"), tool.Stale, "read all of")
	h.Must(t, rf, map[string]any{"path": "menu.txt"})
	h.Must(t, wf, over2("menu.txt"))
}

// P-WORK-5: a change in the last moment before the rename is seen too.
func TestChangedJustBeforeTheRename(t *testing.T) {
	h, wf, rf := bench(t)
	h.Put(t, "f.txt", "one\n")
	h.Must(t, rf, map[string]any{"path": "f.txt"})
	h.BeforeRename = func() { h.Put(t, "f.txt", "one\nsaved by an editor\n") }
	f := h.Fails(t, wf, over2("f.txt"), tool.Stale, "changed since it was read")
	if diff := f.Output.(map[string]any)["diff"].(string); !strings.Contains(diff, "+saved by an editor") {
		t.Errorf("got %v", f.Output)
	}
	h.BeforeRename = func() { os.Remove(filepath.Join(h.Root, "f.txt")) }
	h.Must(t, rf, map[string]any{"path": "f.txt"})
	h.Fails(t, wf, over2("f.txt"), tool.Stale, "was removed")
	h.BeforeRename = func() { h.Put(t, "new.txt", "theirs\n") }
	f = h.Fails(t, wf, over2("new.txt"), tool.Stale, "changed since it was read")
	if h.Get(t, "new.txt") != "theirs\n" || !strings.Contains(f.Output.(map[string]any)["content"].(string), "theirs") {
		t.Errorf("a file that came up: %v", f.Output)
	}
}

// T-FILE-15, T-FILE-10: line ends and encoding of the file are kept, and said.
func TestLineEndsAndEncodingAreKept(t *testing.T) {
	h, wf, rf := bench(t)
	for name, c := range map[string]struct{ before, content, after, note string }{
		"crlf.txt":  {"a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n", "CRLF"},
		"mixed.txt": {"a\r\nb\n", "a\nc\n", "a\nc\n", ""},
		"given.txt": {"a\r\nb\r\n", "a\r\nc\n", "a\r\nc\n", ""},
		"bom.txt":   {"\xef\xbb\xbfa\n", "b\n", "\xef\xbb\xbfb\n", ""},
		"u16.txt":   {"\xff\xfea\x00", "é", "\xff\xfe\xe9\x00", ""},
		"latin.txt": {"caf\xe9\n", "thé €\n", "th\xe9 \x80\n", ""},
	} {
		h.Put(t, name, c.before)
		h.Must(t, rf, map[string]any{"path": name})
		out := h.Must(t, wf, map[string]any{"path": name, "content": c.content})
		note, _ := out["note"].(string)
		if got := h.Get(t, name); got != c.after || !strings.Contains(note, c.note) {
			t.Errorf("%s: got %q, note %q", name, got, note)
		}
	}
	h.Fails(t, wf, map[string]any{"path": "latin.txt", "content": "漢\n"}, tool.Unsupported, "U+6F22", "windows-1252")
	h.Put(t, "open.txt", "no end")
	h.Must(t, rf, map[string]any{"path": "open.txt"})
	if out := h.Must(t, wf, map[string]any{"path": "open.txt", "content": "!", "append": true}); !strings.Contains(out["note"].(string), "last line") || h.Get(t, "open.txt") != "no end!" {
		t.Errorf("append: %v %q", out, h.Get(t, "open.txt"))
	}
}

// T-FILE-15: a comment that stands for the rest of the file deletes nothing.
func TestElisionIsRefused(t *testing.T) {
	h, wf, rf := bench(t)
	whole := "package x\n\n" + strings.Repeat("func f() { work() }\n", 40)
	h.Put(t, "x.go", whole)
	h.Must(t, rf, map[string]any{"path": "x.go"})
	for _, line := range []string{
		"// ... rest unchanged ...", "# … existing code …", "// ... (rest of the file)", "/* ... keep the other functions */", "<!-- ... same as before -->",
		"... remaining methods", "// rest of the code stays", "// existing code", "// unchanged code here",
	} {
		h.Fails(t, wf, map[string]any{"path": "x.go", "content": "package x\n\nfunc g() {}\n" + line + "\n"}, tool.BadArgs, "shorter than the file", "edit_file")
	}
	if h.Get(t, "x.go") != whole {
		t.Fatal("the file was cut")
	}
	for _, content := range []string{
		"package x\n\n// the rest is silence\n", "package x\n\nfunc g(args ...string) {}\n", "package x // existing codecs are kept elsewhere\n",
	} {
		h.Must(t, rf, map[string]any{"path": "x.go"})
		h.Must(t, wf, map[string]any{"path": "x.go", "content": content})
		h.Put(t, "x.go", whole)
	}
	h.Must(t, wf, map[string]any{"path": "notes.md", "content": "# ... rest unchanged ...\n"})
}

// B025: nothing is made outside the root.
func TestB025WriteThroughALinkThatLeaves(t *testing.T) {
	h, wf, _ := bench(t)
	h.Link(t, "../outside", "outbox")
	h.Fails(t, wf, map[string]any{"path": "outbox/a.txt", "content": "x"}, tool.Denied, "outside the working directory")
	h.Fails(t, wf, map[string]any{"path": "../outside/a.txt", "content": "x"}, tool.Denied, "outside the working directory")
	if entries, _ := os.ReadDir(h.Outside); len(entries) != 0 {
		t.Errorf("made outside: %v", entries)
	}
}

// T-FILE-12, T-FILE-15: binaries and huge files are no text.
func TestWhatIsNoText(t *testing.T) {
	h, wf, _ := bench(t)
	h.Put(t, "pic.png", "\x89PNG\r\n\x1a\n\x00")
	h.Fails(t, wf, over2("pic.png"), tool.Unsupported, "binary", "image/png")
	h.Fails(t, wf, map[string]any{"path": "big", "content": strings.Repeat("x", 10<<20+1)}, tool.TooLarge, "10 MiB")
	h.Put(t, "huge", strings.Repeat("x\n", 6<<20))
	h.Fails(t, wf, over2("huge"), tool.TooLarge, "command")
	h.Fails(t, wf, map[string]any{"path": ".", "content": "x"}, tool.Unsupported, "folder")
}

// T-FILE-5: an approved replacement of a secret file shows nothing of it.
func TestSecretIsReplacedUnseen(t *testing.T) {
	h, wf, _ := bench(t)
	h.Put(t, ".env", "OLD=hidden\n")
	ran, err := h.Run(t.Context(), wf, map[string]any{"path": ".env", "content": "NEW=1\n"})
	if err != nil || h.Get(t, ".env") != "NEW=1\n" {
		t.Fatalf("%v %q", err, h.Get(t, ".env"))
	}
	if text := ir.Render(ran.Output) + ran.Blocks[0].Text; strings.Contains(text, "hidden") || strings.Contains(text, "NEW=1") {
		t.Errorf("shown: %s", text)
	}
	h.Fails(t, wf, map[string]any{"path": ".env", "content": "X", "append": true}, tool.Denied, "secrets")
}

// P-GUARD-2: the preview is the whole diff, and makes nothing.
func TestPreviewIsWhole(t *testing.T) {
	h, wf, _ := bench(t)
	content := strings.Repeat("a line of text\n", 2000) + "rm -rf the last\n"
	blocks, err := wf.(tool.Previewer).Preview(t.Context(), tool.Call{Params: map[string]any{"path": "new/x", "content": content}}, h.Env().Files)
	if err != nil || len(blocks) != 1 || blocks[0].Kind != ir.BlockDiff || !strings.Contains(blocks[0].Text, "+rm -rf the last") {
		t.Errorf("%v %d blocks", err, len(blocks))
	}
	if _, err := os.Lstat(filepath.Join(h.Root, "new")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a preview wrote: %v", err)
	}
}

func TestCanceledCallWritesNothing(t *testing.T) {
	h, wf, _ := bench(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Run(ctx, wf, over2("x")); err == nil {
		t.Error("a canceled write succeeded")
	}
	if _, err := os.Lstat(filepath.Join(h.Root, "x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it wrote: %v", err)
	}
}
