package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ignoreBytes bounds what is read of the person's git files.
const ignoreBytes = 1 << 20

// globalIgnore is the text of the person's own ignore file (T-FILE-19): the one that
// core.excludesFile names, else git's default. The settings are read as text, since no
// program runs before the person asked for anything (P-GUARD-5); included files are not
// followed. What is not there ignores nothing.
func (h *house) globalIgnore() string {
	env := h.app.env
	if env.home == "" {
		return ""
	}
	config := firstOf(env.variable("XDG_CONFIG_HOME"), filepath.Join(env.home, ".config"))
	files := []string{filepath.Join(config, "git", "config"), filepath.Join(env.home, ".gitconfig")}
	if own := env.variable("GIT_CONFIG_GLOBAL"); own != "" {
		files = []string{own}
	}
	path := filepath.Join(config, "git", "ignore")
	for _, file := range files { // the later one wins, as in git
		if named, found := excludesFile(readBounded(file)); found {
			path = named
		}
	}
	if rest, inHome := strings.CutPrefix(path, "~/"); inHome {
		path = filepath.Join(env.home, rest)
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return readBounded(path)
}

// variable is one of the surroundings, empty where it is not set.
func (e environment) variable(name string) string {
	for _, kv := range e.vars {
		if n, v, _ := strings.Cut(kv, "="); n == name {
			return v
		}
	}
	return ""
}

// readBounded is the text of a regular file, empty where there is none.
func readBounded(path string) string {
	if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, ignoreBytes))
	if err != nil {
		return ""
	}
	return string(text)
}

// excludesFile finds core.excludesFile in the text of a git configuration.
func excludesFile(config string) (path string, found bool) {
	core := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			head, rest, _ := strings.Cut(line, "]")
			core = strings.EqualFold(strings.TrimSpace(head[1:]), "core")
			line = strings.TrimSpace(rest)
		}
		name, value, ok := strings.Cut(line, "=")
		if !core || !ok || !strings.EqualFold(strings.TrimSpace(name), "excludesfile") {
			continue
		}
		value = strings.TrimSpace(value)
		if quoted, isQuoted := strings.CutPrefix(value, `"`); isQuoted {
			value, _, _ = strings.Cut(quoted, `"`)
			value = strings.NewReplacer(`\\`, `\`).Replace(value)
		} else if i := strings.IndexAny(value, "#;"); i >= 0 {
			value = strings.TrimSpace(value[:i])
		}
		path, found = value, true
	}
	return path, found
}
