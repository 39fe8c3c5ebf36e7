package policy

import (
	"path"
	"strings"
	"unicode"

	"car/internal/engine/tool"
)

// zone says where a path lies.
type zone uint8

const (
	// outside is the zero value: what is not known to be inside is not.
	outside zone = iota
	// unknownZone is a path that cannot be told before it runs.
	unknownZone
	// inside is below the root; scratch below the session's TMPDIR.
	inside
	scratch
	// readable is outside, but a person opened it for reading (D-4).
	readable
	// device is a name that stands for no file: the standard streams, null and its kin.
	device
)

// secretKind says what kind of secret a path names (D04, D10).
type secretKind uint8

const (
	noSecret secretKind = iota
	// askSecret: private keys by suffix, asked for even inside the root.
	askSecret
	envFile
	credential
	// keyStore is everything below ~/.ssh and ~/.gnupg.
	keyStore
	// environment is the copy of an environment in procfs.
	environment
)

// guard says what protects a path against change (D11, D12, D26).
type guard uint8

const (
	noGuard guard = iota
	// autorun: some other program runs it later.
	autorun
	// gitOther: below .git, but not what starts programs.
	gitOther
	// gitDir: .git itself.
	gitDir
	// gitCore: hooks, config, attributes.
	gitCore
	// governance: .car of a project or the person's own.
	governance
)

// where is a path as policy sees it.
type where struct {
	// text is the path for messages: as written, shortened.
	text string
	// abs is absolute, after links; empty when not known.
	abs  string
	rel  string
	zone zone
	// isRoot: the root itself. aboveRoot: a directory that holds the root.
	isRoot    bool
	aboveRoot bool
	secret    secretKind
	guard     guard
	// badDevice: below /dev, or a procfs alias of a descriptor.
	badDevice bool
	// linked: a link inside the root led outside.
	linked bool
	// finalLink: the last name is a link.
	finalLink bool
	odd       string
	// info is what is there; found is false when nothing is or nobody can tell.
	info  tool.Info
	found bool
	// below is true when any path below this one may be meant.
	below bool
	// holdsHome: a directory that holds the person's credentials.
	holdsHome bool
	// listed: another command prints the names.
	listed bool
	// pattern is a glob that stands for some of what is below.
	pattern bool
}

func (w where) safeZone() bool { return w.zone == inside || w.zone == scratch || w.zone == device }

// classify fills in what a resolved absolute path means.
func (p *Policy) classify(w *where, lexical string) {
	w.abs = path.Clean(w.abs)
	w.zone, w.rel = p.zoneOf(w.abs)
	w.isRoot = w.abs == p.cfg.Root
	w.aboveRoot = w.abs == "/" || strings.HasPrefix(p.cfg.Root, w.abs+"/")
	if p.cfg.Home != "" {
		w.holdsHome = w.abs == p.cfg.Home || w.abs == "/" || strings.HasPrefix(p.cfg.Home, w.abs+"/")
	}
	names := []string{w.abs, lexical}
	if lexical == w.abs {
		names = names[:1]
	}
	for _, name := range names {
		if s := p.secretOf(name); s > w.secret {
			w.secret = s
		}
		if g := p.guardOf(name); g > w.guard {
			w.guard = g
		}
		if w.odd == "" {
			w.odd = oddPath(name)
		}
	}
	switch kind := deviceOf(w.abs, lexical); kind {
	case goodDevice:
		w.zone = device
	case noDevice:
	default:
		w.badDevice = true
	}
}

func (p *Policy) zoneOf(abs string) (zone, string) {
	if rel, ok := below(p.cfg.Root, abs); ok {
		return inside, rel
	}
	if p.cfg.Scratch != "" {
		if rel, ok := below(p.cfg.Scratch, abs); ok {
			return scratch, rel
		}
	}
	for _, r := range p.cfg.ReadRoots {
		if rel, ok := below(path.Clean(r), abs); ok {
			return readable, rel
		}
	}
	return outside, ""
}

// below returns abs relative to dir when it lies there.
func below(dir, abs string) (string, bool) {
	switch {
	case dir == "":
		return "", false
	case abs == dir:
		return ".", true
	case dir == "/":
		return strings.TrimPrefix(abs, "/"), strings.HasPrefix(abs, "/")
	case len(abs) > len(dir) && abs[len(dir)] == '/' && strings.HasPrefix(abs, dir):
		return abs[len(dir)+1:], true
	}
	return "", false
}

// plainName is a name as case-blind and forgiving file systems see it (D27).
func plainName(name string) string {
	if plainASCII(name) {
		return name
	}
	clean := strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	return strings.TrimRight(clean, ". ")
}

// plainASCII reports a name that is what it looks like to every file system.
func plainASCII(name string) bool {
	for i := 0; i < len(name); i++ {
		if ch := name[i]; ch >= 0x80 || ch >= 'A' && ch <= 'Z' {
			return false
		}
	}
	if name == "" {
		return true
	}
	last := name[len(name)-1:]
	return last != "." && last != " "
}

// parts splits a path into plain names. A name of dots alone stays.
func parts(abs string) []string {
	out := make([]string, 0, 8)
	for name := range strings.SplitSeq(abs, "/") {
		if name == "" || name == "." {
			continue
		}
		plain := plainName(name)
		// An alternate stream names the same file.
		if i := strings.IndexByte(plain, ':'); i > 0 && strings.HasPrefix(plain, ".") {
			plain = plain[:i]
		}
		if plain == "" {
			plain = name
		}
		out = append(out, plain)
	}
	return out
}

// guardOf tells what protects a path from change, at any depth: nested
// repositories and submodules count (D11).
func (p *Policy) guardOf(abs string) guard {
	if _, ok := below(p.cfg.CarHome, abs); ok {
		return governance
	}
	rel, ok := below(p.cfg.Root, abs)
	if !ok {
		return noGuard
	}
	names := parts(rel)
	best := noGuard
	for i, name := range names {
		best = max(best, guardName(name, names[i+1:]))
	}
	return best
}

func guardName(name string, rest []string) guard {
	switch name {
	case ".car":
		return governance
	case ".git":
		return gitGuard(rest)
	case ".vscode", ".idea", ".envrc", ".husky", ".gitattributes", ".gitmodules", ".devcontainer", ".circleci", ".gitlab-ci.yml":
		return autorun
	case ".github":
		if len(rest) > 0 && (rest[0] == "workflows" || rest[0] == "actions") {
			return autorun
		}
	}
	return noGuard
}

func gitGuard(rest []string) guard {
	if len(rest) == 0 {
		return gitDir
	}
	if rest[0] == "modules" || rest[0] == "worktrees" {
		for i, name := range rest {
			if i > 0 && (name == "hooks" || name == "config" || name == "config.worktree") {
				return gitCore
			}
		}
		return gitOther
	}
	switch {
	case rest[0] == "hooks", rest[0] == "config", rest[0] == "config.worktree":
		return gitCore
	case rest[0] == "info" && len(rest) > 1 && rest[1] == "attributes":
		return gitCore
	}
	return gitOther
}

// oddPath reports spellings that other systems read as another name (D18, D27).
func oddPath(abs string) string {
	for _, r := range abs {
		if invisible(r) {
			return "an invisible character"
		}
	}
	for name := range strings.SplitSeq(abs, "/") {
		if strings.Contains(name, "::$") || strings.HasPrefix(name, ".") && strings.Contains(name, ":") {
			return "a stream suffix"
		}
		if i := strings.IndexByte(name, '~'); i > 0 && i <= 6 && i+1 < len(name) && strings.Trim(name[i+1:], "0123456789") == "" && strings.ToUpper(name) == name {
			return "a short name"
		}
	}
	return ""
}

// invisible reports characters that show nothing or change direction. Joiners
// count in paths and command words; text may hold them.
func invisible(r rune) bool {
	switch {
	case r == 0x00ad, r == 0x034f, r == 0x061c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xfeff, r == 0xffa0:
		return true
	case r >= 0x180b && r <= 0x180f, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r >= 0xfe00 && r <= 0xfe0f:
		return true
	case r >= 0xe0000 && r <= 0xe0fff:
		return true
	}
	return false
}

type deviceKind uint8

const (
	noDevice deviceKind = iota
	goodDevice
	badDevice
	networkDevice
)

// deviceOf tells harmless devices from all others (D29).
func deviceOf(abs, lexical string) deviceKind {
	for _, name := range []string{lexical, abs} {
		switch name {
		case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr",
			"/dev/fd/0", "/dev/fd/1", "/dev/fd/2", "/proc/self/fd/0", "/proc/self/fd/1", "/proc/self/fd/2":
			return goodDevice
		}
	}
	for _, name := range []string{lexical, abs} {
		switch {
		case strings.HasPrefix(name, "/dev/tcp/"), strings.HasPrefix(name, "/dev/udp/"):
			return networkDevice
		case strings.HasPrefix(name, "/dev/shm"), strings.HasPrefix(name, "/dev/fd/"):
		case strings.HasPrefix(name, "/dev/"):
			return badDevice
		}
	}
	return noDevice
}
