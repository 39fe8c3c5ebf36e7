package policy

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// search is what a find or fd command looks for.
type search struct {
	starts []shell.Word
	// names are globs that the last name must match; paths are globs over the whole path.
	names []string
	paths []string
	// narrow: some other test leaves out ordinary files or this agent's own.
	narrow bool
	// spares: the expression leaves out .car; sparesGit: it leaves out .git.
	spares, sparesGit bool
	open              bool
}

// findReader walks find's expression. With act it judges what the expression
// does on the way; without, it only learns what is looked for.
type findReader struct {
	j   *judge
	c   *call
	act bool
	at  int
	// not: the test that follows is negated.
	not bool
	search
}

func (j *judge) findArgs(c *call, act bool) search {
	r := findReader{j: j, c: c, act: act}
	r.places()
	for ; r.at < len(c.args); r.at++ {
		text, ok := c.args[r.at].Static()
		if !ok {
			r.open = true
			continue
		}
		negates := text == "!" || text == "-not"
		if !r.test(text) {
			r.action(text)
		}
		r.not = negates
	}
	return r.search
}

// places reads where the search starts.
func (r *findReader) places() {
	args := r.c.args
	for ; r.at < len(args); r.at++ {
		text, ok := args[r.at].Static()
		if ok && (text == "-H" || text == "-L" || text == "-P" || strings.HasPrefix(text, "-O") && len(text) > 1) {
			continue
		}
		if ok && text == "-D" {
			r.at++
			continue
		}
		if strings.HasPrefix(args[r.at].Prefix(), "-") || ok && (text == "(" || text == "!" || text == ")") {
			break
		}
		r.starts = append(r.starts, args[r.at])
	}
	if len(r.starts) == 0 {
		r.starts = []shell.Word{shell.Lit(".")}
	}
}

// next returns the argument of a test, "*" when it is not known.
func (r *findReader) next() string {
	if r.at++; r.at >= len(r.c.args) {
		return ""
	}
	v, known := r.c.args[r.at].Static()
	if !known {
		r.open = true
		return "*"
	}
	return v
}

// peek returns the word behind the current one.
func (r *findReader) peek() string {
	if r.at+1 < len(r.c.args) {
		return r.c.args[r.at+1].String()
	}
	return ""
}

// test reads a test; it reports whether it was one.
func (r *findReader) test(text string) bool {
	switch text {
	case "-name", "-iname", "-lname", "-ilname":
		if v := r.next(); !r.not {
			r.names = append(r.names, v)
		}
	case "-path", "-wholename", "-ipath", "-iwholename", "-regex", "-iregex":
		v := r.next()
		if !r.not && r.peek() != "-prune" {
			r.paths = append(r.paths, v)
			break
		}
		r.spares = r.spares || strings.Contains(v, ".car")
		r.sparesGit = r.sparesGit || namesGit(v)
	case "-empty", "-executable":
		r.narrow = r.narrow || !r.not
	case "-type":
		if r.next() != "f" && !r.not {
			r.narrow = true
		}
	case "-mindepth", "-maxdepth", "-size", "-mtime", "-atime", "-ctime", "-mmin", "-amin", "-cmin", "-user", "-group", "-perm", "-inum", "-links", "-uid", "-gid",
		"-fstype", "-printf", "-newermt", "-used", "-xtype", "-context":
		r.at++
	default:
		return false
	}
	return true
}

// action reads what is done with what was found, and tests that look at files.
func (r *findReader) action(text string) {
	file := func() (shell.Word, bool) {
		r.at++
		return r.word(r.at)
	}
	switch text {
	case "-newer", "-anewer", "-cnewer", "-samefile":
		if w, ok := file(); ok {
			r.j.look(r.c, w, false)
		}
	case "-files0-from":
		r.open = true
		if w, ok := file(); ok {
			r.j.read(r.c, w, false)
		}
	case "-fprint", "-fprint0", "-fls", "-fprintf":
		if w, ok := file(); ok {
			r.j.write(r.c, w, creates)
		}
		if text == "-fprintf" {
			r.at++
		}
	case "-exec", "-execdir", "-ok", "-okdir":
		for r.at++; r.at < len(r.c.args); r.at++ {
			if t := r.c.args[r.at].String(); t == ";" || t == "+" {
				return
			}
		}
	case "-delete":
		if r.act {
			r.j.findDelete(r.c, r.search)
		}
	}
}

func (r *findReader) word(i int) (shell.Word, bool) {
	if !r.act || i >= len(r.c.args) {
		return shell.Word{}, false
	}
	return r.c.args[i], true
}

func (j *judge) find(c *call) bool {
	j.apply(c)
	s := j.findArgs(c, true)
	for _, w := range s.starts {
		j.look(c, w, true)
	}
	return true
}

// findDelete judges removing what a search finds.
func (j *judge) findDelete(c *call, s search) {
	for _, w := range s.starts {
		for _, at := range j.places(c, w, true) {
			hits := j.searched(at, s)
			hits = append(hits, j.gitBelow(at, s)...)
			if len(hits) == 0 && at.zone == inside && at.guard == noGuard {
				c.raise(ir.SandboxEdit, ir.Irreversible, "removes files inside the root")
				continue
			}
			if len(hits) == 0 {
				hits = []where{at}
			}
			for _, h := range hits {
				j.writeAt(c, h, deletesTree)
			}
		}
	}
}

// searched lists the protected and secret places that a search below at may
// come upon.
func (j *judge) searched(at where, s search) []where {
	if at.zone != inside || at.guard != noGuard {
		return nil
	}
	var out []where
	hit := func(abs string) {
		w := j.r.resolve("/", abs, false)
		w.text = path.Base(abs) + " below " + at.text
		out = append(out, w)
	}
	if rel, ok := below(at.abs, j.p.cfg.Root+"/.car"); ok && rel != "." && !s.spares {
		car := j.p.cfg.Root + "/.car"
		switch {
		case len(s.names)+len(s.paths) == 0 && !s.narrow:
			hit(car)
		case slices.ContainsFunc(s.paths, func(p string) bool { return strings.Contains(p, ".car") }):
			hit(car)
		default:
			for _, abs := range j.filesBelow(car, 400) {
				if s.matches(at.abs, abs) {
					hit(abs)
					break
				}
			}
		}
	}
	for _, n := range s.names {
		if isEnvFile(plainName(n)) || namesSecrets(n) {
			hit(path.Join(at.abs, ".env"))
		} else if k := j.p.secretOf("/" + n); k >= credential {
			hit(path.Join(at.abs, n))
		}
	}
	return out
}

// namesGit reports a pattern over whole paths that speaks of the git directory.
func namesGit(pattern string) bool {
	i := strings.Index(pattern, ".git")
	return i >= 0 && (len(pattern) == i+4 || strings.ContainsAny(pattern[i+4:i+5], `/*?[\$`))
}

// gitFiles are names that every git directory has.
var gitFiles = []string{"", "HEAD", "index", "objects", "refs", "refs/heads/main", "objects/ab/cdef0123456789", "packed-refs"}

// gitBelow is the git directory where a search that changes what it finds may come
// upon what the commits are made of.
func (j *judge) gitBelow(at where, s search) []where {
	git := j.p.cfg.Root + "/.git"
	if rel, ok := below(at.abs, git); !ok || rel == "." || at.zone != inside || at.guard != noGuard || s.sparesGit || s.narrow {
		return nil
	}
	if !slices.ContainsFunc(s.paths, namesGit) && !slices.ContainsFunc(gitFiles, func(name string) bool { return s.matches(at.abs, path.Join(git, name)) }) {
		return nil
	}
	w := j.r.resolve("/", git, false)
	w.text = ".git below " + at.text
	return []where{w}
}

// foundGit is the same for a word that stands for what a search finds.
func (j *judge) foundGit(w shell.Word) []where {
	var out []where
	for _, p := range w.Parts {
		if p.Kind != shell.Unknown || len(w.Parts) > 1 && path.IsAbs(w.Prefix()) {
			continue
		}
		kind, from := j.shape(p)
		if kind != shapeFound || from >= len(j.calls) || j.calls[from] == nil {
			continue
		}
		parent := j.calls[from]
		s := j.searchOf(parent)
		for _, start := range s.starts {
			for _, at := range j.places(parent, start, true) {
				out = append(out, j.gitBelow(at, s)...)
			}
		}
	}
	return out
}

func (s search) matches(start, abs string) bool {
	for _, n := range s.names {
		if ok, err := path.Match(strings.ToLower(n), strings.ToLower(path.Base(abs))); err == nil && !ok {
			return false
		}
	}
	for _, p := range s.paths {
		rel, _ := below(start, abs)
		if ok, err := path.Match(strings.ReplaceAll(p, "/", "\x01"), strings.ReplaceAll("./"+rel, "/", "\x01")); err == nil && !ok {
			return false
		}
	}
	return !s.narrow
}

// filesBelow lists what is below a folder; without facts, the files that govern.
func (j *judge) filesBelow(dir string, limit int) []string {
	if j.p.cfg.Facts == nil {
		var out []string
		for _, f := range []string{"", "config.toml", "policies", "policies/main.toml", "intent.json", "tool-labels.json", "production-gates.toml", "mcp.toml", "policy.yaml"} {
			out = append(out, path.Join(dir, f))
		}
		return out
	}
	var out []string
	var walk func(string, int)
	walk = func(at string, depth int) {
		list, ok := j.r.children(at)
		if !ok || depth > 6 {
			return
		}
		out = append(out, at)
		for _, e := range list {
			if len(out) > limit {
				return
			}
			abs := path.Join(at, e.Name())
			if e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
				walk(abs, depth+1)
				continue
			}
			out = append(out, abs)
		}
	}
	walk(dir, 0)
	return out
}

// found turns {} of find -exec into the places that the search may come upon.
func (j *judge) found(c *call, p shell.Part, from int, w shell.Word) []where {
	if from >= len(j.calls) || j.calls[from] == nil {
		return []where{{text: "{}", zone: unknownZone}}
	}
	parent := j.calls[from]
	listed := p.Origin != shell.FromFound
	s := j.searchOf(parent)
	if s.open {
		return []where{{text: "{}", zone: unknownZone}}
	}
	if text := w.Prefix(); path.IsAbs(text) && len(w.Parts) > 1 {
		// /somewhere/{}: below that folder, whatever is found.
		at := j.place(c, text, true)
		at.below = true
		return []where{at}
	}
	var out []where
	for _, start := range s.starts {
		for _, at := range j.places(parent, start, true) {
			if hits := j.searched(at, s); len(hits) > 0 {
				out = append(out, hits...)
			}
			at.below, at.listed, at.text, at.isRoot = true, listed, "{} below "+at.text, false
			if at.rel == "." {
				at.rel = "…"
			}
			out = append(out, at)
		}
	}
	return out
}

func (j *judge) searchOf(c *call) search {
	if c.row == nil {
		return search{open: true}
	}
	if c.row.check == "fd" {
		return j.fdSearch(c)
	}
	return j.findArgs(c, false)
}

// fdSearch reads fd's operands: a pattern, then where to start.
func (j *judge) fdSearch(c *call) search {
	args := c.args
	for i, a := range args {
		if t, _ := a.Static(); t == "-x" || t == "--exec" || t == "-X" || t == "--exec-batch" {
			args = args[:i]
			break
		}
	}
	_, operands, _ := c.row.parse(args, false)
	s := search{starts: []shell.Word{shell.Lit(".")}}
	if len(operands) > 1 {
		s.starts = operands[1:]
	}
	if len(operands) > 0 {
		if t, ok := operands[0].Static(); ok && strings.HasPrefix(t, ".env") {
			s.names = []string{t}
		}
		s.narrow = true
	}
	if !c.has("-H", "--hidden", "-u", "--unrestricted") {
		// Hidden names are left out.
		s.spares = true
	}
	return s
}

func (j *judge) fd(c *call) bool {
	j.apply(c)
	s := j.fdSearch(c)
	for _, w := range s.starts {
		j.look(c, w, true)
	}
	if c.has("-x", "--exec", "-X", "--exec-batch") && c.tier < ir.FullAccess {
		j.say(Reason{Verdict: Ask, Rule: ruleHelper, Text: "fd starts a program for each match"})
		c.raise(ir.FullAccess, ir.Irreversible, "starts a program for each match")
	}
	return true
}

func (j *judge) grep(c *call) bool {
	j.apply(c)
	operands := c.operands
	if !c.has("-e", "--regexp", "-f", "--file", "--files", "--type-list") && len(operands) > 0 {
		j.unknownText(c, operands[0])
		operands = operands[1:]
	}
	deep := c.has("-r", "-R", "--recursive", "--dereference-recursive") || c.row.check == "rg" || c.name == "ag" || c.name == "ack"
	hidden := deep && (c.row.check != "rg" || c.has("--hidden", "-.", "-u", "-uu", "-uuu", "--unrestricted"))
	for _, w := range operands {
		if c.has("--files") {
			j.look(c, w, true)
			continue
		}
		j.read(c, w, hidden)
	}
	for _, o := range c.options {
		switch o.name {
		case "--include", "-g", "--glob", "--iglob", "-G":
			if t := o.text(); selectsSecrets(t) {
				j.deny(c, ruleSecretRead, "would search only secret files", "search the source instead")
			}
		}
	}
	return true
}

func (o given) text() string {
	if o.value == nil {
		return ""
	}
	t, _ := o.value.Static()
	return t
}

func (j *judge) test(c *call) bool {
	j.apply(c)
	for i, a := range c.args {
		t, _ := a.Static()
		if len(t) == 2 && t[0] == '-' && strings.Contains("abcdefghkprstuwxGLNOS", t[1:]) && i+1 < len(c.args) {
			next := c.args[i+1]
			if nt, ok := next.Static(); !ok || nt == "]" || nt == "" {
				continue
			}
			for _, at := range j.places(c, next, true) {
				if at.secret == keyStore {
					j.look(c, next, false)
				}
			}
		}
	}
	return true
}
