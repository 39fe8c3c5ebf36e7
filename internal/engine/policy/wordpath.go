package policy

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// shapeKind says what is known of an unknown part all the same (D16, D17).
type shapeKind uint8

const (
	// shapeOpen: nothing.
	shapeOpen shapeKind = iota
	// shapeToken: one word without slashes or a leading dash: a number, a date, an object's name.
	shapeToken
	// shapeScratch: a path that mktemp made in the session's folder.
	shapeScratch
	// shapeInside: paths below the root.
	shapeInside
	// shapeFound: paths that a find command names.
	shapeFound
	// shapeStream: a descriptor of a process substitution.
	shapeStream
)

// shape works out what is known of an unknown part. from is the command that
// prints it, for shapeFound.
func (j *judge) shape(p shell.Part) (kind shapeKind, from int) {
	switch p.Origin {
	case shell.FromArithmetic:
		return shapeToken, 0
	case shell.FromProcess:
		return shapeStream, 0
	case shell.FromFound:
		if len(p.Subst) == 0 {
			return shapeOpen, 0
		}
		return shapeFound, p.Subst[0]
	case shell.FromSubstitution, shell.FromInput:
		return j.outputShape(p.Subst)
	}
	return shapeOpen, 0
}

// outputShape is the shape of what some commands print together: that of the
// one which produces, kept by the ones that only filter.
func (j *judge) outputShape(subst []int) (kind shapeKind, from int) {
	any := false
	for _, i := range subst {
		if i >= len(j.calls) || j.calls[i] == nil || j.calls[i].verdict == Deny {
			return shapeOpen, 0
		}
		c := j.calls[i]
		if c.cmd.Wraps || lineFilter(c) {
			continue
		}
		k := j.printShape(c)
		if k == shapeOpen || any && k != kind || any && k == shapeFound {
			return shapeOpen, 0
		}
		kind, from, any = k, i, true
	}
	return kind, from
}

// lineFilter reports programs that pass on some of the lines they read.
func lineFilter(c *call) bool {
	switch c.name {
	case "head", "tail", "sort", "uniq", "cd", "[", "test", "true":
		return len(c.operands) == 0 || c.name == "cd" || c.name == "[" || c.name == "test"
	case "grep", "egrep", "fgrep", "rg":
		return len(c.operands) <= 1 && c.cmd.Input.Feeds
	}
	return false
}

// tokenPrinters print one word of a fixed shape, or words of it: numbers, dates,
// names of objects and machines.
const tokenPrinters = " date nproc id whoami uname hostname arch wc seq expr getconf cksum uptime uuidgen logname basename git-merge-base git-describe git-rev-list git-symbolic-ref git-show-ref git-hash-object git-write-tree git-name-rev git-commit-tree "

// printShape is the shape of what one command prints.
func (j *judge) printShape(c *call) shapeKind {
	switch {
	case c.row != nil && (c.row.check == "find" || c.row.check == "fd"):
		return shapeFound
	case c.name == "mktemp":
		if len(c.operands) == 0 && !c.has("-p", "--tmpdir") && j.p.cfg.Scratch != "" {
			return shapeScratch
		}
		return shapeOpen
	case c.tier > ir.ReadOnly:
		return shapeOpen
	case inList(tokenPrinters, strings.ReplaceAll(c.name, " ", "-")):
		return shapeToken
	case j.printsPaths(c) && !j.namesSecret(c):
		return shapeInside
	}
	switch c.name {
	case "git rev-parse":
		if !slices.ContainsFunc(c.argText(), func(t string) bool {
			return t == "--show-toplevel" || t == "--git-dir" || t == "--git-common-dir" || t == "--absolute-git-dir" || t == "--git-path" || t == "--show-prefix" || t == "--show-cdup"
		}) {
			return shapeToken
		}
	case "git branch":
		if c.has("--show-current") {
			return shapeToken
		}
	case "git log":
		if hashFormat(c) {
			return shapeToken
		}
	}
	return shapeOpen
}

// printsPaths reports programs that print paths below the root and nothing else.
func (j *judge) printsPaths(c *call) bool {
	switch c.name {
	case "pwd":
		z, _ := j.p.zoneOf(c.cmd.Dir)
		return c.cmd.DirKnown && z == inside
	case "git ls-files", "git ls-tree":
		return true
	case "git diff", "git show", "git diff-tree", "git diff-index", "git status":
		return c.has("--name-only")
	case "rg", "grep", "egrep", "fgrep", "ag":
		return c.has("-l", "--files-with-matches", "--files", "-L", "--files-without-match")
	case "ls":
		return !c.has("-l", "-a", "-A", "--all", "--almost-all", "-f")
	}
	return false
}

// namesSecret reports a call that is told to look at a secret file.
func (j *judge) namesSecret(c *call) bool {
	for _, w := range c.args {
		if text, ok := plainText(w); ok && hasGlob(text) && namesSecrets(text) {
			return true
		}
		if w.HasUnknown() {
			continue
		}
		for _, at := range j.places(c, w, true) {
			if at.secret >= envFile {
				return true
			}
		}
	}
	return false
}

func hashFormat(c *call) bool {
	v := c.value("--format", "--pretty")
	if v == nil {
		return false
	}
	text, _ := v.Static()
	switch strings.TrimPrefix(strings.TrimPrefix(text, "format:"), "tformat:") {
	case "%H", "%h", "%T", "%t", "%P", "%ct", "%at", "%ci", "%cI", "%cs", "%as":
		return true
	}
	return false
}

// places turns a word into the places it may name.
func (j *judge) places(c *call, w shell.Word, follow bool) []where {
	if text, ok := w.Static(); ok {
		return []where{j.place(c, text, follow)}
	}
	var text strings.Builder
	pattern := false
	for i, p := range w.Parts {
		switch p.Kind {
		case shell.Literal:
			text.WriteString(escapeGlob(p.Text))
		case shell.Pattern:
			pattern = true
			text.WriteString(p.Text)
		case shell.Unknown:
			kind, from := j.shape(p)
			switch kind {
			case shapeToken:
				text.WriteString("0")
			case shapeStream:
				return []where{{text: "a pipe", zone: device, abs: "/dev/fd/63"}}
			case shapeScratch:
				if i > 0 {
					return []where{{text: w.String(), zone: unknownZone}}
				}
				text.WriteString(escapeGlob(j.p.cfg.Scratch + "/tmp.0"))
			case shapeInside:
				if len(w.Parts) > 1 {
					return []where{{text: shorten(w.String()), zone: unknownZone}}
				}
				return []where{{text: shorten(p.Text), zone: inside, rel: "…", abs: j.p.cfg.Root + "/…", below: true, listed: true}}
			case shapeFound:
				return j.found(c, p, from, w)
			default:
				return []where{{text: shorten(w.String()), zone: unknownZone}}
			}
		}
	}
	if !pattern {
		return []where{j.place(c, unescapeGlob(text.String()), follow)}
	}
	return j.glob(c, text.String(), follow)
}

func (j *judge) place(c *call, text string, follow bool) where {
	if text == "" {
		return where{text: "''", zone: inside, abs: j.p.cfg.Root + "/''", rel: "''"}
	}
	if c.cmd != nil && !c.cmd.DirKnown && !path.IsAbs(text) {
		w := where{text: shorten(text), zone: unknownZone}
		// What a name is does not hang on where it lies.
		w.secret = j.p.secretOf("/" + text)
		w.guard = max(w.guard, j.p.guardOf(j.p.cfg.Root+"/"+text))
		if w.guard != governance {
			w.guard = noGuard
		}
		return w
	}
	return j.r.resolve(j.dir(c), text, follow)
}

func escapeGlob(s string) string {
	if !strings.ContainsAny(s, `\*?[`) {
		return s
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

func unescapeGlob(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.NewReplacer(`\\`, `\`, `\*`, `*`, `\?`, `?`, `\[`, `[`).Replace(s)
}

// glob turns a pattern into the places it can stand for: the folder in front of
// it, secret and protected names that it matches whether they exist or not, and
// what is there.
func (j *judge) glob(c *call, pattern string, follow bool) []where {
	if !path.IsAbs(pattern) && c.cmd != nil && !c.cmd.DirKnown {
		return []where{{text: shorten(pattern), zone: unknownZone, pattern: true}}
	}
	key := seenGlob{j.dir(c), pattern, follow, c.cmd != nil && c.cmd.DotGlob}
	hits, ok := j.r.globs[key]
	if !ok {
		hits = j.globAnew(key)
		j.r.globs[key] = hits
	}
	return hits
}

func (j *judge) globAnew(key seenGlob) []where {
	pattern, follow, dotglob := key.pattern, key.follow, key.dotglob
	lexical := pattern
	if !path.IsAbs(pattern) {
		lexical = escapeGlob(key.dir) + "/" + pattern
	}
	fixed, rest := splitGlob(lexical)
	base := j.r.resolve("/", fixed, true)
	base.text, base.pattern, base.below = shorten(pattern), true, true
	base.isRoot, base.secret, base.guard = false, noSecret, noGuard
	names := strings.Split(rest, "/")
	for _, n := range names {
		if n == ".." {
			base.zone = unknownZone
		}
	}
	full := strings.TrimSuffix(escapeGlob(base.abs), "/") + "/" + rest
	out := []where{base}
	if len(names) == 1 && !matchesAll(rest) {
		// Not everything there: only what matches.
		out[0].rel = path.Join(base.rel, rest)
	}
	for _, abs := range j.sensitive(base.abs) {
		if globMatches(full, abs, dotglob) {
			hit := j.r.resolve("/", abs, follow)
			hit.text = shorten(pattern)
			out = append(out, hit)
		}
	}
	for _, abs := range j.expand(base.abs, names, dotglob, 256) {
		hit := j.r.resolve("/", abs, follow)
		hit.text = shorten(abs)
		if hit.secret != noSecret || hit.guard != noGuard || hit.zone != base.zone {
			out = append(out, hit)
		}
	}
	return out
}

func matchesAll(rest string) bool {
	switch rest {
	case "*", "**", ".*", "*.*", "?*":
		return true
	}
	return strings.HasPrefix(rest, "**/")
}

// splitGlob cuts a pattern after the last folder that holds no glob.
func splitGlob(pattern string) (fixed, rest string) {
	names := strings.Split(pattern, "/")
	i := 0
	for i < len(names)-1 && !hasGlob(names[i]) {
		i++
	}
	fixed = unescapeGlob(strings.Join(names[:i], "/"))
	if fixed == "" {
		fixed = "/"
	}
	return fixed, strings.Join(names[i:], "/")
}

func hasGlob(name string) bool {
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '\\':
			i++
		case '*', '?', '[', '(':
			return true
		}
	}
	return false
}

// sensitive lists paths below base that a pattern is tried against though they
// may not exist: the .env family beside it, what governs, the stores at home.
func (j *judge) sensitive(base string) []string {
	var out []string
	for _, name := range envNames() {
		out = append(out, path.Join(base, name))
	}
	prefix := strings.TrimSuffix(base, "/") + "/"
	for _, abs := range j.p.sensitive {
		if strings.HasPrefix(abs, prefix) {
			out = append(out, abs)
		}
	}
	return out
}

// sensitivePaths is the fixed part of that list.
func sensitivePaths(c Config) []string {
	var out []string
	for _, name := range []string{".env", ".car", ".git", ".git/config", ".git/hooks/pre-commit", ".git/info/attributes", ".envrc", ".gitattributes", ".gitmodules",
		".vscode", ".idea", ".husky", ".github/workflows/ci.yml", ".car/main.toml", ".car/config.toml", ".car/policies", ".car/policies/main.toml", ".car/intent.json", ".car/mcp.toml"} {
		out = append(out, c.Root+"/"+name)
	}
	if c.Home != "" {
		for one := range strings.FieldsSeq(secretHome) {
			name := strings.TrimSuffix(one, "/")
			out = append(out, c.Home+"/"+name)
			if name != one {
				for _, f := range []string{"credentials", "config", "id_rsa", "id_ed25519", "hosts.yml", "token"} {
					out = append(out, c.Home+"/"+name+"/"+f)
				}
			}
		}
	}
	for one := range strings.FieldsSeq(secretSystem) {
		out = append(out, strings.TrimSuffix(one, "/"))
	}
	return out
}

// globMatches matches name by name, as the shell does: a leading dot must be
// written, ** is any depth.
func globMatches(pattern, abs string, dotglob bool) bool {
	return matchNames(strings.Split(pattern, "/"), strings.Split(abs, "/"), dotglob)
}

func matchNames(pat, names []string, dotglob bool) bool {
	for len(pat) > 0 {
		if pat[0] == "**" {
			for i := 0; i <= len(names); i++ {
				if matchNames(pat[1:], names[i:], dotglob) {
					return true
				}
				if i < len(names) && strings.HasPrefix(names[i], ".") && !dotglob {
					return false
				}
			}
			return false
		}
		if len(names) == 0 || !matchName(pat[0], names[0], dotglob) {
			return false
		}
		pat, names = pat[1:], names[1:]
	}
	return len(names) == 0
}

func matchName(pat, name string, dotglob bool) bool {
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(unescapeGlob(pat), ".") && !dotglob && name != "" {
		return false
	}
	ok, err := path.Match(pat, name)
	if err != nil {
		// A pattern that path.Match does not know may match anything.
		return true
	}
	return ok
}

// expand lists what is there and matches, as far as facts can tell.
func (j *judge) expand(dir string, names []string, dotglob bool, limit int) []string {
	if j.p.cfg.Facts == nil || len(names) == 0 || limit <= 0 {
		return nil
	}
	list, ok := j.r.children(dir)
	if !ok {
		return nil
	}
	var out []string
	for _, e := range list {
		if len(out) >= limit {
			break
		}
		if names[0] != "**" && !matchName(names[0], e.Name(), dotglob) {
			continue
		}
		abs := path.Join(dir, e.Name())
		switch {
		case len(names) == 1:
			out = append(out, abs)
		case e.IsDir() || e.Type()&fs.ModeSymlink != 0:
			out = append(out, j.expand(abs, names[1:], dotglob, limit-len(out))...)
		}
	}
	return out
}
