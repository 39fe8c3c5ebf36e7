package substrate

import (
	"path/filepath"
	"strings"
)

// checkPlatformSpelling refuses spellings that Windows reads as something else
// than a file below a folder (T-FILE-1).
func checkPlatformSpelling(path string) error {
	if strings.HasPrefix(path, `\\?\`) || strings.HasPrefix(path, `\\.\`) || strings.HasPrefix(path, `//?/`) || strings.HasPrefix(path, `//./`) {
		return badPath("path %q names a device; give a plain path", path)
	}
	vol := filepath.VolumeName(path)
	rest := path[len(vol):]
	if vol != "" && !strings.HasPrefix(rest, `\`) && !strings.HasPrefix(rest, "/") {
		return badPath("path %q is relative to the folder of a drive; give an absolute path", path)
	}
	if strings.Contains(rest, ":") {
		return badPath("path %q names an alternate stream; give a plain path", path)
	}
	if filepath.IsAbs(path) {
		path = strings.TrimLeft(rest, `\/`)
	}
	if path != "" && !filepath.IsLocal(path) && !strings.Contains(path, "..") {
		return badPath("path %q holds a name that Windows reserves for devices", path)
	}
	return nil
}
