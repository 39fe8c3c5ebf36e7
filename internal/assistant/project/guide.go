package project

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxGuidance bounds what a model is told by instruction files, in bytes, in all (A-CTX-1).
const maxGuidance = 32 << 10

// guideNames are the instruction files of a folder; the first that is there counts.
var guideNames = []string{"AGENTS.override.md", "AGENTS.md", "CLAUDE.md"}

// Instruction is one instruction file with what it imports. It guides a model and
// unlocks nothing.
type Instruction struct {
	// Path is relative to the root, or absolute for the person's own.
	Path string
	Text string
	// Omitted says how many bytes were cut from its end.
	Omitted int
	// Trusted says that it is the person's own or that its digest, and that of all
	// it imports, is trusted. Any other taints what follows (G-INTENT-3).
	Trusted bool
	// Files are the project's files it is made of, for `car trust`.
	Files []File
}

// Skipped is an instruction file, or an import, that was left out, and why.
type Skipped struct {
	Path string
	Why  string
}

// Guide finds instruction files: those above the working directory at once, deeper
// ones when a tool first touches their folder. It is for one conversation and is
// not safe for concurrent use.
type Guide struct {
	p       *Project
	left    int
	seen    []fs.FileInfo
	visited map[string]bool
}

// Guide returns a guide that has told nothing yet.
func (p *Project) Guide() *Guide {
	return &Guide{p: p, left: maxGuidance, visited: map[string]bool{}}
}

// Start returns the instructions for the working directory: the person's own, then
// from the root down, the nearest last. When they do not fit, the nearest are kept.
func (g *Guide) Start(ctx context.Context) ([]Instruction, []Skipped, error) {
	var found []Instruction
	var skipped []Skipped
	if dir := g.p.config.CarHome; dir != "" {
		r := importer{ctx: ctx, guide: g, fsys: os.DirFS(dir), base: dir}
		if i, ok := r.first([]string{"AGENTS.md"}, "."); ok {
			i.Path = filepath.Join(dir, i.Path)
			found = append(found, i)
		}
		skipped = append(skipped, r.skipped...)
	}
	below, more, err := g.walk(ctx, g.p.Cwd)
	if err != nil {
		return nil, nil, err
	}
	return g.fit(append(found, below...)), append(skipped, more...), nil
}

// Below returns the instructions of the folders between the root and dir that were
// not told yet; a folder outside of the root has none. dir is an absolute real path.
func (g *Guide) Below(ctx context.Context, dir string) ([]Instruction, []Skipped, error) {
	found, skipped, err := g.walk(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	return g.fit(found), skipped, nil
}

func (g *Guide) walk(ctx context.Context, dir string) ([]Instruction, []Skipped, error) {
	rel, err := filepath.Rel(g.p.Root, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, nil, nil
	}
	root, err := os.OpenRoot(g.p.Root)
	if err != nil {
		return nil, nil, fmt.Errorf("instructions: %w", err)
	}
	defer root.Close()
	r := importer{ctx: ctx, guide: g, fsys: root.FS(), base: g.p.Root, project: g.p.Root}
	var found []Instruction
	at := "."
	for _, step := range append([]string{"."}, strings.Split(filepath.ToSlash(rel), "/")...) {
		at = path.Join(at, step)
		if g.visited[at] {
			continue
		}
		g.visited[at] = true
		if i, ok := r.first(guideNames, at); ok {
			found = append(found, i)
		}
	}
	return found, r.skipped, r.err
}

// fit keeps the nearest within what is left, cuts the one that does not fit and
// keeps the others as nothing but their count.
func (g *Guide) fit(found []Instruction) []Instruction {
	for k := len(found) - 1; k >= 0; k-- {
		i := &found[k]
		kept := cut(i.Text, g.left)
		i.Omitted += len(i.Text) - len(kept)
		i.Text = kept
		g.left -= len(kept)
	}
	return found
}

// cut shortens a text to whole lines, or to whole runes where its first line does not fit.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[:limit]
	if end := strings.LastIndexByte(text, '\n'); end >= 0 {
		return text[:end+1]
	}
	for len(text) > 0 && !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}

// importer reads instruction files below one folder and what they import.
type importer struct {
	ctx     context.Context
	guide   *Guide
	fsys    fs.FS
	base    string
	project string // empty: the person's own
	skipped []Skipped
	err     error
}

// maxImports is how deep imports go (A-CTX-1).
const maxImports = 3

// first reads the first of the names that is there, in one folder.
func (r *importer) first(names []string, dir string) (Instruction, bool) {
	for _, name := range names {
		i := Instruction{Path: path.Join(dir, name), Trusted: true}
		if text, ok := r.read(&i, i.Path, 0); ok {
			i.Text = text
			return i, strings.TrimSpace(text) != ""
		}
	}
	return Instruction{}, false
}

// read returns a file's text with its imports in place. A file that is not there
// is no news; one that was told already is nothing again.
func (r *importer) read(i *Instruction, name string, depth int) (string, bool) {
	info, err := fs.Stat(r.fsys, name)
	if err != nil {
		if _, missing := fs.Lstat(r.fsys, name); missing == nil || depth > 0 {
			r.skip(name, "cannot be read, or leads outside of "+r.base)
		}
		return "", false
	}
	if !info.Mode().IsRegular() {
		r.skip(name, "is not a regular file")
		return "", false
	}
	for _, known := range r.guide.seen {
		if os.SameFile(known, info) {
			return "", true
		}
	}
	data, err := readAll(r.fsys, name)
	if err != nil {
		r.skip(name, "cannot be read")
		return "", false
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	if strings.ContainsRune(text, 0) || !utf8.ValidString(cut(text, maxGuidance)) {
		r.skip(name, "is not text")
		return "", false
	}
	r.guide.seen = append(r.guide.seen, info)
	r.trust(i, name, data)
	// What cannot fit in any case is cut before its imports are looked at.
	if kept := cut(text, maxGuidance); len(kept) < len(text) {
		i.Omitted += max(int(info.Size()), len(text)) - len(kept)
		text = kept
	}
	return r.imports(i, text, path.Dir(name), depth), true
}

func (r *importer) skip(name, why string) {
	full := filepath.Join(r.base, filepath.FromSlash(name))
	r.skipped = append(r.skipped, Skipped{Path: full, Why: why})
}

func (r *importer) trust(i *Instruction, name string, data []byte) {
	if r.project == "" {
		return
	}
	f := File{Path: filepath.Join(r.base, filepath.FromSlash(name)), Name: name, Root: r.project, Digest: DigestOf(data)}
	if trust := r.guide.p.config.Trust; trust != nil && len(data) <= maxFile {
		trusted, known, err := trust(r.ctx, r.project, name, f.Digest)
		if err != nil && r.err == nil {
			r.err = fmt.Errorf("trust in %s: %w", f.Path, err)
		}
		f.Trusted, f.Changed = trusted && err == nil, known && !trusted
	}
	i.Trusted = i.Trusted && f.Trusted
	i.Files = append(i.Files, f)
}

// imports puts the text of a file in place of each line that is only @ and its
// path, relative to the file and inside of the folder. Code blocks are left alone.
func (r *importer) imports(i *Instruction, text, dir string, depth int) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		if mark := fenceOf(trimmed); mark != "" && (fence == "" || fence == mark) {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
		}
		target, isImport := strings.CutPrefix(trimmed, "@")
		if fence != "" || !isImport || target == "" || strings.ContainsAny(target, " \t") {
			b.WriteString(line)
			continue
		}
		b.WriteString(r.imported(i, target, dir, depth))
	}
	return b.String()
}

func fenceOf(line string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(line, mark) {
			return mark
		}
	}
	return ""
}

func (r *importer) imported(i *Instruction, target, dir string, depth int) string {
	name := path.Join(dir, target)
	switch {
	case depth >= maxImports:
		r.skip(name, fmt.Sprintf("is imported more than %d deep", maxImports))
		return ""
	case path.IsAbs(target) || strings.HasPrefix(target, "~") || !fs.ValidPath(name):
		r.skippedImport(target, "is an import from outside of "+r.base)
		return ""
	}
	text, _ := r.read(i, name, depth+1)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}

func (r *importer) skippedImport(target, why string) {
	r.skipped = append(r.skipped, Skipped{Path: target, Why: why})
}
