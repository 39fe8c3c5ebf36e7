// Package walk goes through a tree for the tools that list, find and search:
// lazily, in one fixed order, never through a link, never into .git, past what
// ignore files say, and with a count of everything that was not looked at, so
// that "no match" and "not looked at" stay different answers (P-TRUE-5).
//
// It acts through tool.Files and imports engine/tool and the matcher beside it.
// Nothing but the open folders of the current path is held, so a tree of any
// size costs its depth (P-SCALE-1).
package walk

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"

	"car/internal/engine/tool"
	"car/internal/tools/gitignore"
)

// Options say what a walk passes over.
type Options struct {
	// IncludeIgnored looks at ignored files too.
	IncludeIgnored bool
	// SkipHidden passes over names that begin with a dot.
	SkipHidden bool
	// Depth bounds how many folders deep entries may lie; 0 is any depth, 1 the start's own.
	Depth int
	// GlobalIgnore is the text of the person's own ignore file.
	GlobalIgnore string
}

// Entry is one file, folder or link of the tree.
type Entry struct {
	// Path is spelled as the start was: "." gives "a/b.go", "src" gives "src/b.go".
	Path string
	// Rel is the path below the start.
	Rel string
	// Dir is what the folder says of the entry.
	Dir fs.DirEntry
}

// Skipped counts what a walk passed over. An ignored or hidden folder counts
// once; what lies in it is not known.
type Skipped struct {
	IgnoredFiles   int
	IgnoredFolders int
	Hidden         int
	Unreadable     int
	// Names are the paths of the first ignored entries.
	Names []string
}

// maxNames bounds Skipped.Names.
const maxNames = 20

// maxIgnoreFile bounds how much of an ignore file is read.
const maxIgnoreFile = 1 << 20

// walker is one walk under way.
type walker struct {
	ctx     context.Context
	files   tool.Files
	options Options
	visit   func(Entry) error
	skipped Skipped
}

// folder is a folder of the walk.
type folder struct {
	// spelled and rel are as in Entry; real is the path that ignore files match.
	spelled, rel, real string
	rules              gitignore.List
	depth              int
}

// Tree visits everything below the folder start in the order of its names. An
// error of visit ends the walk and is returned, and so is the end of ctx. Folders
// come before what is in them. A start that is itself ignored was named on
// purpose: rules from above it do not count below it (T-FILE-19).
func Tree(ctx context.Context, files tool.Files, start string, o Options, visit func(Entry) error) (Skipped, error) {
	w := &walker{ctx: ctx, files: files, options: o, visit: visit}
	info, err := files.Stat(start)
	if err != nil {
		return w.skipped, err
	}
	at := folder{spelled: path.Clean(start), depth: 1}
	if o.GlobalIgnore != "" {
		at.rules = gitignore.List{gitignore.Parse("", o.GlobalIgnore)}
	}
	if !info.Outside && !path.IsAbs(info.Path) && info.Path != "." {
		at.real = info.Path
		at.rules = w.fromAbove(at.rules, info.Path)
	}
	entries, err := files.ReadDir(start)
	if err != nil {
		return w.skipped, err
	}
	err = w.folder(at, entries)
	return w.skipped, err
}

// fromAbove collects the rules of the folders above a start.
func (w *walker) fromAbove(rules gitignore.List, start string) gitignore.List {
	global := rules
	dir := ""
	for name := range strings.SplitSeq(start, "/") {
		rules = w.with(rules, dir, dir, true, true)
		dir = path.Join(dir, name)
		if rules.Ignored(dir, true) {
			return global
		}
	}
	return rules
}

// with adds the rules of a folder: its repository's private ones, then its own.
func (w *walker) with(rules gitignore.List, spelled, real string, repository, ignoreFile bool) gitignore.List {
	added := rules[:len(rules):len(rules)]
	if repository {
		if text := w.read(path.Join(spelled, ".git/info/exclude")); text != "" {
			added = append(added, gitignore.Parse(real, text))
		}
	}
	if ignoreFile {
		if text := w.read(path.Join(spelled, ".gitignore")); text != "" {
			added = append(added, gitignore.Parse(real, text))
		}
	}
	return added
}

func (w *walker) read(name string) string {
	f, err := w.files.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return ""
	}
	return string(text)
}

// folder visits the entries of a folder and goes into its folders.
func (w *walker) folder(at folder, entries []fs.DirEntry) error {
	at.rules = w.rulesOf(at, entries)
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		if e.Name() == ".git" {
			continue
		}
		entry := Entry{Path: join(at.spelled, e.Name()), Rel: path.Join(at.rel, e.Name()), Dir: e}
		if w.passOver(at, entry) {
			continue
		}
		if err := w.visit(entry); err != nil {
			return err
		}
		if e.IsDir() && (w.options.Depth == 0 || at.depth < w.options.Depth) {
			if err := w.enter(at, entry); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walker) rulesOf(at folder, entries []fs.DirEntry) gitignore.List {
	if w.options.IncludeIgnored {
		return nil
	}
	repository, ignoreFile := false, false
	for _, e := range entries {
		repository = repository || e.Name() == ".git" && e.IsDir()
		ignoreFile = ignoreFile || e.Name() == ".gitignore"
	}
	return w.with(at.rules, at.spelled, at.real, repository, ignoreFile)
}

// passOver counts an entry that is hidden or ignored.
func (w *walker) passOver(at folder, e Entry) bool {
	name := e.Dir.Name()
	switch {
	case w.options.SkipHidden && strings.HasPrefix(name, "."):
		w.skipped.Hidden++
	case at.rules.Ignored(path.Join(at.real, name), e.Dir.IsDir()):
		if e.Dir.IsDir() {
			w.skipped.IgnoredFolders++
		} else {
			w.skipped.IgnoredFiles++
		}
		if len(w.skipped.Names) < maxNames {
			w.skipped.Names = append(w.skipped.Names, e.Path)
		}
	default:
		return false
	}
	return true
}

// enter goes into a folder. One that cannot be read is counted, not an error.
func (w *walker) enter(at folder, e Entry) error {
	entries, err := w.files.ReadDir(e.Path)
	if err != nil {
		w.skipped.Unreadable++
		return nil
	}
	return w.folder(folder{
		spelled: e.Path, rel: e.Rel, real: path.Join(at.real, e.Dir.Name()), rules: at.rules, depth: at.depth + 1,
	}, entries)
}

func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return path.Join(dir, name)
}

// Ended tells the end of a time budget from a cancel: true when ctx still stands
// although err says that a context ended.
func Ended(ctx context.Context, err error) bool {
	return ctx.Err() == nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled))
}
