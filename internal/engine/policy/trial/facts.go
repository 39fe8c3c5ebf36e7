package trial

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

func (p place) at(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.root, path)
}

// build makes one fact, or notes one that is no file.
func (p place) build(settings *policy.Config, f Fact) error {
	switch f.Kind {
	case "option":
		if f.Name == "read_clamp" && f.Value == true {
			settings.ReadOutside = policy.Deny
		}
		return nil
	case "redirects", "resolves":
		return nil
	case "swap":
		if f.To == nil {
			return fmt.Errorf("setup swap %s: to is missing", f.Path)
		}
		return nil
	}
	path := p.at(f.Path)
	if f.Path == "" || !strings.HasPrefix(path, p.base+string(filepath.Separator)) {
		return fmt.Errorf("setup %s %q: facts stand below {{ROOT}}, {{HOME}} or {{OUT}}", f.Kind, f.Path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	switch f.Kind {
	case "file":
		return os.WriteFile(path, []byte(f.Content), 0o644)
	case "dir":
		return os.MkdirAll(path, 0o755)
	case "symlink":
		return os.Symlink(f.Target, path)
	case "hardlink":
		target := p.at(f.Target)
		if !strings.HasPrefix(target, p.base+string(filepath.Separator)) {
			return fmt.Errorf("setup hardlink %q: its target stands below {{ROOT}}, {{HOME}} or {{OUT}}", f.Target)
		}
		return os.Link(target, path)
	case "fifo", "socket":
		return special(f.Kind, path)
	}
	return fmt.Errorf("setup kind %q is none of file, dir, symlink, hardlink, fifo, socket, swap, option, redirects, resolves", f.Kind)
}

// files is the file system as it is.
type files struct{}

func (files) Lstat(path string) (tool.Info, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return tool.Info{}, err
	}
	info := tool.Info{Path: path, Size: fi.Size(), Mode: fi.Mode(), ModTime: fi.ModTime(), Links: 1}
	info.Links, info.Key = identity(fi)
	return info, nil
}

func (files) Readlink(path string) (string, error)       { return os.Readlink(path) }
func (files) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(path) }

func (f files) Open(path string) (tool.File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Lstat(path)
	return opened{file, info}, err
}

type opened struct {
	*os.File
	info tool.Info
}

func (o opened) Info() tool.Info { return o.info }
