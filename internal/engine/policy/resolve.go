package policy

import (
	"io/fs"
	"path"
	"strings"

	"car/internal/engine/tool"
)

// maxLinks bounds how many links one path is followed through.
const maxLinks = 40

// resolver turns names into places. It lives for one judgement; looks at files
// are cached, and links that the text itself makes are known to it.
type resolver struct {
	p     *Policy
	cache map[string]lookedUp
	// seen are places that were resolved already; made drops them.
	seen  map[seenPath]where
	globs map[seenGlob][]where
	// made maps links that earlier commands of the text make to their targets.
	made map[string]string
}

type seenPath struct {
	dir, name string
	follow    bool
}

type seenGlob struct {
	dir, pattern    string
	follow, dotglob bool
}

type lookedUp struct {
	info   tool.Info
	found  bool
	target string
}

func newResolver(p *Policy) *resolver {
	return &resolver{p: p, cache: map[string]lookedUp{}, seen: map[seenPath]where{}, globs: map[seenGlob][]where{}, made: map[string]string{}}
}

func (r *resolver) look(abs string) lookedUp {
	if target, ok := r.made[abs]; ok {
		return lookedUp{found: true, target: target, info: tool.Info{Mode: fs.ModeSymlink}}
	}
	if r.p.cfg.Facts == nil {
		return lookedUp{}
	}
	if l, ok := r.cache[abs]; ok {
		return l
	}
	var l lookedUp
	if info, err := r.p.cfg.Facts.Lstat(abs); err == nil {
		l.info, l.found = info, true
		if info.Mode&fs.ModeSymlink != 0 {
			if target, err := r.p.cfg.Facts.Readlink(abs); err == nil {
				l.target = target
			}
		}
	}
	r.cache[abs] = l
	return l
}

// resolve follows a literal path from a directory, as the kernel would. follow
// says whether a link in the last place is followed too.
func (r *resolver) resolve(dir, name string, follow bool) where {
	key := seenPath{dir, name, follow}
	w, ok := r.seen[key]
	if !ok {
		w = r.resolveAnew(dir, name, follow)
		r.seen[key] = w
	}
	return w
}

// link remembers a link that the text makes.
func (r *resolver) link(name, target string) {
	r.made[name] = target
	clear(r.seen)
	clear(r.globs)
}

func (r *resolver) resolveAnew(dir, name string, follow bool) where {
	w := where{text: shorten(name)}
	lexical := name
	if !path.IsAbs(name) {
		lexical = dir + "/" + name
	}
	abs, linked, final := r.walk(lexical, follow)
	w.abs, w.finalLink = abs, final
	clean := path.Clean(procAlias(lexical, dir))
	r.p.classify(&w, clean)
	if _, in := below(r.p.cfg.Root, clean); in && linked && w.zone == outside {
		w.linked = true
	}
	if l := r.look(w.abs); l.found {
		w.info, w.found = l.info, true
	}
	return w
}

// procAlias drops the names by which procfs calls the file system's root and
// the working directory.
func procAlias(abs, dir string) string {
	for range 4 {
		names := strings.Split(path.Clean(abs), "/")
		if len(names) < 4 || names[1] != "proc" {
			return abs
		}
		i := 3
		if len(names) > 5 && names[3] == "task" {
			i = 5
		}
		rest := "/" + strings.Join(names[i+1:], "/")
		switch names[i] {
		case "root":
			abs = rest
		case "cwd":
			abs = dir + rest
		default:
			return abs
		}
	}
	return abs
}

// walk resolves links one name at a time.
func (r *resolver) walk(lexical string, follow bool) (abs string, linked, final bool) {
	todo := strings.Split(lexical, "/")
	at := "/"
	// The root is canonical: no look is needed above it.
	if rel, ok := below(r.p.cfg.Root, path.Clean(lexical)); ok && !strings.Contains(lexical, "..") {
		at, todo = r.p.cfg.Root, strings.Split(rel, "/")
		if rel == "." {
			return at, false, false
		}
	}
	links := 0
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, name)
		if alias := procAlias(next, r.p.cfg.Root); alias != next {
			at, linked = path.Clean(alias), true
			continue
		}
		l := r.look(next)
		last := len(todo) == 0
		if l.target == "" || last && !follow {
			final = last && l.target != ""
			at = next
			continue
		}
		if links++; links > maxLinks {
			return next, linked, true
		}
		linked = true
		if last {
			final = true
		}
		if path.IsAbs(l.target) {
			at = "/"
		}
		todo = append(strings.Split(l.target, "/"), todo...)
	}
	return at, linked, final
}

// children lists a directory, when facts can tell.
func (r *resolver) children(abs string) ([]fs.DirEntry, bool) {
	if r.p.cfg.Facts == nil {
		return nil, false
	}
	list, err := r.p.cfg.Facts.ReadDir(abs)
	return list, err == nil
}

// shorten keeps a path fit for a message.
func shorten(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f || invisible(r) {
			return '�'
		}
		return r
	}, s)
	if len(s) > 120 {
		return s[:80] + "…" + s[len(s)-30:]
	}
	return s
}
