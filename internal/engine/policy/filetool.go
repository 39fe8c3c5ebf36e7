package policy

import (
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
	"car/internal/engine/tool"
)

func text(params map[string]any, key string) string {
	s, _ := params[key].(string)
	return s
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// fileTool judges a call of a file tool. Paths are literal (D34).
func (j *judge) fileTool(a ir.Action) {
	c := j.toolCallOf(a.Tool)
	name := text(a.Parameters, "path")
	switch a.Tool {
	case "read_file":
		j.toolRead(c, name)
	case "list_dir":
		j.toolLook(c, orDot(name))
	case "find_files":
		j.toolLook(c, orDot(name))
		j.toolPattern(c, orDot(name), text(a.Parameters, "pattern"), false)
	case "grep_files":
		j.toolGrep(c, orDot(name), text(a.Parameters, "glob"))
	case "write_file":
		j.toolWrite(c, name, false)
	case "edit_file":
		j.toolWrite(c, name, true)
	}
	j.add(c)
}

// toolCallOf is a call by a tool rather than by a shell.
func (j *judge) toolCallOf(name string) *call {
	return &call{name: name, tier: ir.ReadOnly, rev: ir.Reversible, verdict: Allow, cmd: &shell.Command{Dir: j.p.cfg.Root, DirKnown: true}}
}

func orDot(name string) string {
	if name == "" {
		return "."
	}
	return name
}

// literal refuses paths that are mistakes or that other systems read otherwise.
func (j *judge) literal(c *call, name string) bool {
	why, way := "", "give a path relative to the working root"
	switch {
	case name == "":
		why = "is given an empty path"
	case strings.IndexByte(name, 0) >= 0:
		why = "is given a path with a NUL byte"
	case strings.HasPrefix(name, "~/") || name == "~":
		why, way = "is given a path with ~, which file tools do not expand", "give the path in full"
	case hasScheme(name):
		why = "is given a URL where a path belongs"
	case procDescriptor(name), procDescriptor(j.lexical(name)):
		why = "is given a path of procfs that stands for another file"
	}
	if why == "" {
		return true
	}
	j.deny(c, rulePath, why, way)
	return false
}

func (j *judge) lexical(name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(j.p.cfg.Root, name)
}

func hasScheme(name string) bool {
	scheme, _, ok := strings.Cut(name, "://")
	return ok && scheme != "" && strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+.-") == ""
}

func procDescriptor(name string) bool {
	names := strings.Split(path.Clean(name), "/")
	if len(names) < 4 || names[1] != "proc" {
		return false
	}
	for _, n := range names[3:] {
		switch n {
		case "fd", "root", "cwd", "map_files", "exe":
			return true
		}
	}
	return false
}

const rulePath = "path"

// at resolves a literal path and refuses what is neither file nor folder.
func (j *judge) at(c *call, name string, follow bool) (where, bool) {
	if !j.literal(c, name) {
		return where{}, false
	}
	w := j.r.resolve(j.p.cfg.Root, name, follow)
	for _, abs := range []string{w.abs, j.lexical(name)} {
		if abs == "/dev" || strings.HasPrefix(abs, "/dev/") {
			j.deny(c, ruleDevice, "would open a device ("+w.text+")", "work on regular files")
			return w, false
		}
	}
	if w.found && w.info.Mode&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeSocket|fs.ModeCharDevice|fs.ModeIrregular) != 0 {
		j.deny(c, ruleDevice, "would open what is no regular file ("+w.text+")", "work on regular files")
		return w, false
	}
	for _, r := range name {
		if r < 0x20 || r == 0x7f || r >= 0x80 && r < 0xa0 {
			j.ask(c, ruleLookAlike, "is given a path with a control character", "")
			break
		}
	}
	j.odd(c, w)
	return w, true
}

// clamp asks about reading outside, or refuses where that is configured.
func (j *judge) clamp(c *call, w where) {
	if w.zone != outside {
		return
	}
	if j.p.cfg.ReadOutside == Deny {
		j.deny(c, ruleOutRead, "would read outside the working root ("+w.text+")", "name a path inside the root")
		return
	}
	j.outsideRead(c, w)
}

func (j *judge) toolRead(c *call, name string) {
	w, ok := j.at(c, name, true)
	if !ok {
		return
	}
	if j.spool(w) {
		return
	}
	j.carHome(c, w, false)
	w.secret = max(w.secret, j.otherNames(w))
	j.readAt(c, w, false)
	if c.verdict != Deny {
		j.clamp(c, w)
	}
}

// spool reports output of this session's own commands, which may be read.
func (j *judge) spool(w where) bool { return w.zone == scratch }

// carHome refuses to read the person's own car folder, whichever tool or command
// names it (T-FILE-4, law 8): it holds the record's key and what was approved. A walk
// from outside that leads through it is refused too. The run's own spools are readable.
func (j *judge) carHome(c *call, w where, deep bool) bool {
	if w.zone == scratch || j.p.cfg.CarHome == "" {
		return false
	}
	_, within := below(j.p.cfg.CarHome, w.abs)
	if _, holds := below(w.abs, j.p.cfg.CarHome); holds && deep && w.zone == outside && !w.holdsHome {
		within = true
	}
	if within {
		j.deny(c, ruleGovernance, "would read the state of this agent ("+w.text+")", "ask the person, or use car's own commands")
	}
	return within
}

func (j *judge) toolLook(c *call, name string) where {
	w, ok := j.at(c, name, true)
	if !ok {
		return w
	}
	j.carHome(c, w, false)
	if w.secret == keyStore {
		j.deny(c, ruleSecretRead, "would look into a key store ("+w.text+")", "ask the person for what you need to know")
		return w
	}
	j.clamp(c, w)
	return w
}

// toolPattern judges a pattern that climbs out or selects secrets.
func (j *judge) toolPattern(c *call, dir, pattern string, content bool) {
	if pattern == "" {
		return
	}
	if strings.IndexByte(pattern, 0) >= 0 {
		j.deny(c, rulePath, "is given a pattern with a NUL byte", "")
		return
	}
	if slices.Contains(strings.Split(pattern, "/"), "..") || path.IsAbs(pattern) {
		fixed, _ := splitGlob(pattern)
		if fixed == "/" && !path.IsAbs(pattern) {
			fixed = ".."
		}
		j.toolLook(c, path.Join(dir, fixed))
	}
	if content && selectsSecrets(pattern) {
		j.deny(c, ruleSecretRead, "would search only secret files", "search the source instead")
	}
}

// selectsSecrets reports a glob that matches secret names and no ordinary ones.
func selectsSecrets(glob string) bool {
	dotted, _ := path.Match(path.Base(glob), ".gitignore")
	return namesSecrets(glob) && !dotted
}

// namesSecrets reports a glob that matches secret names and not just any name.
func namesSecrets(glob string) bool {
	base := path.Base(glob)
	if strings.HasPrefix(base, "!") {
		return false
	}
	if plain, _ := path.Match(base, "main.go"); plain {
		return false
	}
	for _, name := range append(envNames(), "id_rsa", "id_ed25519", ".netrc", ".npmrc", ".git-credentials", ".pgpass") {
		if ok, err := path.Match(base, name); ok && err == nil {
			return true
		}
	}
	return false
}

func (j *judge) toolGrep(c *call, name, glob string) {
	w := j.toolLook(c, name)
	if c.verdict == Deny {
		return
	}
	if w.found && !w.info.Mode.IsDir() {
		w.secret = max(w.secret, j.otherNames(w))
	}
	if !w.found || !w.info.Mode.IsDir() {
		j.readAt(c, w, false)
	} else if w.secret >= credential {
		j.readAt(c, w, false)
	} else {
		j.noteRead(c, w, true)
	}
	j.toolPattern(c, name, glob, true)
}

func (j *judge) toolWrite(c *call, name string, shows bool) {
	w, ok := j.at(c, name, true)
	if !ok {
		return
	}
	if shows {
		w.secret = max(w.secret, j.otherNames(w))
		if w.secret >= envFile {
			j.deny(c, ruleSecretRead, "would show the old text of "+w.text+", which holds secrets", "replace the file as a whole, or ask the person")
			return
		}
	}
	j.writeAt(c, w, creates)
	if c.verdict == Allow || c.verdict == Ask {
		if c.rev == ir.Compensable {
			// File tools journal what they change (T-FILE-13).
			c.rev = ir.Reversible
		}
	}
	if w.found && w.info.Mode.IsRegular() && w.info.Links > 1 {
		j.ask(c, ruleOutWrite, "changes a file that has more than one name ("+w.text+")", "")
	}
}

// otherNames tells whether a file with several names is a secret under another
// one (D21): beside it, at the root, or at home.
func (j *judge) otherNames(w where) secretKind {
	if !w.found || w.info.Links < 2 || w.info.Key == "" || w.secret != noSecret {
		return noSecret
	}
	dirs := []string{path.Dir(w.abs), j.p.cfg.Root}
	for dir := path.Dir(w.abs); len(dir) > len(j.p.cfg.Root) && strings.HasPrefix(dir, j.p.cfg.Root); dir = path.Dir(dir) {
		dirs = append(dirs, dir)
	}
	if home := j.p.cfg.Home; home != "" {
		dirs = append(dirs, home, home+"/.ssh", home+"/.aws", home+"/.gnupg", home+"/.kube", home+"/.docker")
	}
	for _, dir := range dirs {
		list, _ := j.r.children(dir)
		for _, e := range list {
			name := path.Join(dir, e.Name())
			kind := j.p.secretOf(name)
			if kind < envFile {
				continue
			}
			if l := j.r.look(name); l.found && l.info.Key == w.info.Key {
				return kind
			}
		}
	}
	return noSecret
}

// declared judges paths and hosts that a tool declared and policy has no
// parameters for.
func (j *judge) declared(c *call, e tool.Effects) {
	for _, name := range e.Reads {
		if w, ok := j.at(c, name, true); ok {
			j.readAt(c, w, false)
		}
	}
	for _, name := range e.Writes {
		if w, ok := j.at(c, name, true); ok {
			j.writeAt(c, w, creates)
		}
	}
	for _, h := range e.Hosts {
		j.host(h)
		j.judgeReach(c, strings.Trim(h, "[]"))
	}
}
