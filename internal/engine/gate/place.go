package gate

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"car/internal/engine/policy"
	"car/internal/engine/verify/match"
)

// Lister lists folders, by absolute path. tool.FS is one. Safe for concurrent use.
type Lister interface {
	ReadDir(path string) ([]fs.DirEntry, error)
}

// maxWalk bounds how many entries are looked at to see what a folder holds.
const maxWalk = 20_000

// places knows which paths are confidential.
type places struct {
	// root is the session's working root; absolute.
	root  string
	globs []globs
	list  Lister
}

// globs are patterns of one file, and the root they are written from.
type globs struct {
	root     string
	patterns []string
}

// defaultConfidential are the names that hold secrets in most projects (G-FLOW-1).
func defaultConfidential() []string {
	return append(shielded(), "**/credentials*", "secrets/**")
}

// shielded are those whose content a model does not get to see when a command walks
// over them: policy refuses them by name, file tools leave them out, and what is left
// is masked. What leaves a machine unseen is not shielded by that.
func shielded() []string { return []string{".env*", "*.pem", "*_rsa", ".netrc"} }

// absolute is a path of a judgement, which is relative to the root or absolute.
func (p *places) absolute(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(p.root, name)
}

// confidential reports a path whose content is secret.
func (p *places) confidential(name string) bool {
	abs := p.absolute(name)
	if template(path.Base(abs)) {
		return false
	}
	for _, g := range p.globs {
		rel, inside := within(g.root, abs)
		for _, pattern := range g.patterns {
			anchored := strings.Contains(strings.TrimSuffix(pattern, "/"), "/") && !strings.HasPrefix(pattern, "**/")
			switch {
			case inside && match.Path(pattern, rel):
				return true
			case !inside && !anchored && match.Path(pattern, strings.TrimPrefix(abs, "/")):
				return true
			}
		}
	}
	return false
}

// template reports the samples that stand for a secret file and hold none (D04).
func template(base string) bool {
	base = strings.ToLower(base)
	return strings.HasPrefix(base, ".env.") && slices.Contains([]string{"example", "sample", "template", "dist"}, base[len(".env."):])
}

// within is a path below a root, relative to it.
func within(root, abs string) (rel string, ok bool) {
	switch {
	case root == "":
		return "", false
	case abs == root:
		return ".", true
	case root == "/":
		return abs[1:], true
	}
	return strings.CutPrefix(abs, root+"/")
}

// found is what a place holds: a confidential file, and whether all was looked at.
type found struct {
	name     string
	complete bool
}

// holds looks for a confidential file below a folder. glob, where set, selects names
// below it; a folder that is selected counts with what lies in it. sends says that the
// content leaves unseen, so that nothing is shielded.
func (p *places) holds(dir, glob string, sends bool) found {
	base := p.absolute(dir)
	if p.list == nil {
		return found{}
	}
	left := maxWalk
	queue := []string{base}
	complete := true
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		entries, err := p.list.ReadDir(at)
		if err != nil {
			// A folder that is gone holds nothing; one below that nobody can open shows nothing.
			complete = complete && (at != base || errors.Is(err, fs.ErrNotExist))
			continue
		}
		for _, e := range entries {
			if left--; left < 0 {
				return found{}
			}
			full := path.Join(at, e.Name())
			rel, _ := within(base, full)
			switch {
			case e.IsDir() && e.Name() != ".git":
				queue = append(queue, full)
			case !e.IsDir() && selected(glob, rel) && p.confidential(full) && (sends || !isShielded(e.Name())):
				return found{name: p.show(full), complete: true}
			}
		}
	}
	return found{complete: complete}
}

func isShielded(name string) bool {
	return slices.ContainsFunc(shielded(), func(pattern string) bool { return match.Path(pattern, name) })
}

// selected reports a path that a shell pattern names, itself or with its folder.
func selected(glob, rel string) bool {
	if glob == "" {
		return true
	}
	for name := rel; name != "." && name != "/"; name = path.Dir(name) {
		if ok, err := doublestar.Match(glob, name); ok || err != nil {
			return true // a pattern that nobody can read may select anything
		}
	}
	return false
}

// show is a path for messages.
func (p *places) show(abs string) string {
	if rel, ok := within(p.root, abs); ok {
		return rel
	}
	return abs
}

// taken is what an action would take in of confidential files.
type taken struct {
	// sure and may name a file that it surely reads, or may read.
	sure, may string
	// searched says that it looks through a folder, and that its output names the files.
	searched bool
}

// takes sorts what an action reads. sends says that what it reads leaves at once.
func (p *places) takes(reads []policy.Read, sends bool) taken {
	var t taken
	for _, r := range reads {
		switch {
		case r.Path == "":
			t.guess(p.holds(".", "", sends), "a file that is not known before it runs")
		case p.confidential(r.Path):
			t.sure = p.show(p.absolute(r.Path))
		case r.Deep:
			p.deep(&t, r, sends)
		}
	}
	return t
}

// deep sorts reading what lies below a folder.
func (p *places) deep(t *taken, r policy.Read, sends bool) {
	if r.Search && !sends && r.Glob == "" {
		t.searched = true
		return
	}
	f := p.holds(r.Path, r.Glob, sends || r.Glob != "")
	if f.name != "" && (sends || r.Glob != "") {
		t.sure = f.name
		return
	}
	t.guess(f, "something below "+r.Path)
}

// guess notes what may be read. A project that surely holds nothing has nothing to lose.
func (t *taken) guess(f found, what string) {
	switch {
	case f.name != "":
		t.may = f.name
	case !f.complete && t.may == "":
		t.may = what
	}
}
