package substrate

import (
	"fmt"
	"strings"

	"car/internal/engine/tool"
)

// checkSpelling refuses paths that are mistakes rather than names (T-FILE-1,
// D34): nothing is decoded or expanded, so these could only surprise.
func checkSpelling(path string) error {
	switch {
	case path == "":
		return badPath("path is empty; give a path relative to the working directory")
	case strings.ContainsRune(path, 0):
		return badPath("path %q holds a NUL byte; no file name can", path)
	case path == "~" || strings.HasPrefix(path, "~/"):
		return badPath("path %q is taken literally, `~` is not expanded; give an absolute path", path)
	case isURL(path):
		return badPath("path %q is a URL; file tools take plain paths", path)
	}
	return checkPlatformSpelling(path)
}

// isURL reports a path that begins with a scheme, as in https://host.
func isURL(path string) bool {
	scheme, _, found := strings.Cut(path, "://")
	if !found || scheme == "" || !isLetter(scheme[0]) {
		return false
	}
	for i := range len(scheme) {
		c := scheme[i]
		if !isLetter(c) && (c < '0' || c > '9') && c != '+' && c != '.' && c != '-' {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func badPath(format string, args ...any) error {
	return &tool.Fault{Kind: tool.BadArgs, Text: fmt.Sprintf(format, args...)}
}
