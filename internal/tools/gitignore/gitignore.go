// Package gitignore reads ignore files and matches paths against them as git
// does (T-FILE-19): nested files, negation, anchors, `**`, brackets. Its oracle is
// `git check-ignore`.
//
// Paths have slashes and are relative to the folder that the outermost rules
// belong to. A caller that walks a tree does not enter ignored folders, which
// gives git's rule that nothing below them can be included again. It holds pure
// functions and imports nothing of this module.
package gitignore

import "strings"

// Rules are the patterns of one ignore file, in its order.
type Rules struct {
	base     string
	patterns []pattern
}

// pattern is one line of an ignore file.
type pattern struct {
	negated  bool
	onlyDirs bool
	// anchored patterns match the path from the base on, others the last name.
	anchored bool
	text     string
}

// Parse reads an ignore file that lies in the folder base; "" is the outermost.
func Parse(base, text string) Rules {
	r := Rules{base: base}
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\ufeff"), "\n") {
		if p, ok := parseLine(strings.TrimSuffix(line, "\r")); ok {
			r.patterns = append(r.patterns, p)
		}
	}
	return r
}

func parseLine(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line = trimSpaces(line)
	if rest, found := strings.CutPrefix(line, "!"); found {
		p.negated, line = true, rest
	}
	if rest, found := strings.CutSuffix(line, "/"); found {
		p.onlyDirs, line = true, rest
	}
	if line == "" {
		return p, false
	}
	p.anchored = strings.Contains(line, "/")
	p.text = strings.TrimPrefix(line, "/")
	return p, true
}

// trimSpaces drops spaces at the end that no backslash keeps.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			i++
			end = i + 1
		case line[i] != ' ':
			end = i + 1
		}
	}
	return line[:end]
}

// List is rules from the weakest to the strongest: the last match decides.
type List []Rules

// Ignored reports whether a path is ignored. Its parents are the caller's to judge.
func (l List) Ignored(path string, dir bool) bool {
	for i := len(l) - 1; i >= 0; i-- {
		if ignored, decided := l[i].match(path, dir); decided {
			return ignored
		}
	}
	return false
}

func (r Rules) match(path string, dir bool) (ignored, decided bool) {
	if r.base != "" {
		rest, below := strings.CutPrefix(path, r.base+"/")
		if !below {
			return false, false
		}
		path = rest
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for i := len(r.patterns) - 1; i >= 0; i-- {
		p := &r.patterns[i]
		if p.onlyDirs && !dir {
			continue
		}
		if p.anchored && matchPath(p.text, path) || !p.anchored && matchName(p.text, name) {
			return !p.negated, true
		}
	}
	return false, false
}
