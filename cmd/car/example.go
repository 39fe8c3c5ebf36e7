package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	carexample "car/.car-example"
)

// carFolder is the folder of a project that holds what its team commits.
const carFolder = ".car"

// writeExample writes the files of `.car/` into a project and returns their paths
// within it: settings and rules, or all kinds. A file that is there already is an
// error and nothing is written: it is somebody's decision.
func writeExample(root string, all bool) ([]string, error) {
	return writeTree(filepath.Join(root, carFolder), carexample.Folder, ".", func(name string) bool {
		return all || name == "config.toml" || strings.HasPrefix(name, "policies/")
	})
}

func everything(string) bool { return true }

// writeDemo writes the demo's project, governed by the example's `.car/`, into an
// empty or new folder.
func writeDemo(root string) error {
	if entries, err := os.ReadDir(root); err == nil && len(entries) > 0 {
		return usageError(fmt.Errorf("%s is not empty, and the demo works on a project of its own", root), "car do --demo")
	}
	if _, err := writeTree(root, carexample.Demo, "demo", everything); err != nil {
		return err
	}
	_, err := writeExample(root, true)
	return err
}

// writeTree copies the folder at top of from into dir. go:embed carries no module
// file, so one is kept under another name and gets its own here.
func writeTree(dir string, from fs.FS, top string, wanted func(name string) bool) ([]string, error) {
	files := map[string][]byte{}
	var names []string
	err := fs.WalkDir(from, top, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !wanted(p) {
			return err
		}
		text, err := fs.ReadFile(from, p)
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(p, top+"/")
		if path.Base(name) == "go.mod.txt" {
			name = path.Join(path.Dir(name), "go.mod")
		}
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
			return usageError(fmt.Errorf("%s is there already; nothing was written", filepath.Join(dir, name)))
		}
		names = append(names, name)
		files[name] = text
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(to, files[name], 0o644); err != nil {
			return nil, err
		}
	}
	return names, nil
}
