package match

import (
	"fmt"
	"path"
	"strings"
)

// Run reports whether a command's words are what a `run` pattern names: the same
// program, then the pattern's words in order, options in between aside (G-POL-5).
// An empty pattern names no command.
func Run(pattern string, words []string) bool { return Words(strings.Fields(pattern), words) }

// Words is Run for a pattern that was split into its words before; it allocates
// nothing.
func Words(pattern, words []string) bool {
	if len(pattern) == 0 || len(words) == 0 || words[0] != pattern[0] {
		return false
	}
	words = words[1:]
	for _, want := range pattern[1:] {
		i := 0
		for i < len(words) && words[i] != want && strings.HasPrefix(words[i], "-") {
			i++
		}
		if i == len(words) || words[i] != want {
			return false
		}
		words = words[i+1:]
	}
	return true
}

// Path reports whether a path, relative with slashes, fits a glob: * and ? stay
// within a name, ** is any depth, a folder that fits takes all below it with it.
// A glob without a slash fits a name at any depth. Case does not count: file
// systems differ in it, and a guard may not depend on that.
func Path(glob, name string) bool {
	glob, name = strings.ToLower(glob), strings.ToLower(path.Clean(name))
	glob = strings.TrimSuffix(strings.TrimPrefix(glob, "./"), "/")
	if glob == "**" {
		return true
	}
	if !strings.Contains(glob, "/") {
		glob = "**/" + glob
	}
	return names(strings.Split(glob, "/"), strings.Split(name, "/"))
}

// names matches name by name. It is linear in the path for every ** of the glob:
// only the latest ** has to be tried again.
func names(glob, name []string) bool {
	g, n, star, from := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case g == len(glob): // what is below a folder that fits
			return true
		case glob[g] == "**":
			star, from = g, n
			g++
		case fits(glob[g], name[n]):
			g, n = g+1, n+1
		case star >= 0:
			from++
			g, n = star+1, from
		default:
			return false
		}
	}
	for g < len(glob) && glob[g] == "**" {
		g++
	}
	return g == len(glob)
}

func fits(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

// CheckPath reports a glob that means nothing.
func CheckPath(glob string) error {
	if glob == "" {
		return fmt.Errorf("the glob is empty")
	}
	for one := range strings.SplitSeq(glob, "/") {
		if _, err := path.Match(one, "x"); err != nil {
			return fmt.Errorf("%q is no glob: %w", glob, err)
		}
		if one == ".." {
			return fmt.Errorf("%q leads upwards, and paths are resolved before they are compared", glob)
		}
	}
	return nil
}

// Host reports whether a host name or address fits a pattern: the same name, or
// *.name for every name below it. Case, a trailing dot and a port do not count.
func Host(pattern, host string) bool {
	pattern, host = plainHost(pattern), plainHost(host)
	if below, ok := strings.CutPrefix(pattern, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	return pattern == "*" || pattern != "" && pattern == host
}

// CheckHost reports a host pattern that means nothing.
func CheckHost(pattern string) error {
	name := strings.TrimPrefix(plainHost(pattern), "*.")
	switch {
	case pattern == "*":
		return nil
	case name == "":
		return fmt.Errorf("the host is empty")
	case strings.ContainsAny(name, "*?/@ ") || strings.Contains(pattern, "://"):
		return fmt.Errorf("%q is neither a host nor *.host", pattern)
	}
	return nil
}

func plainHost(h string) string {
	h = strings.ToLower(strings.TrimSpace(h))
	if strings.HasPrefix(h, "[") { // an address with or without a port
		inner, _, _ := strings.Cut(h[1:], "]")
		return inner
	}
	if name, port, ok := strings.Cut(h, ":"); ok && !strings.Contains(port, ":") {
		h = name
	}
	return strings.TrimSuffix(h, ".")
}
