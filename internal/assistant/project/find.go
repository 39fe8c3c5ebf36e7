package project

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// FolderName is the folder of a project that governs it.
const FolderName = ".car"

// place is where a working directory stands.
type place struct {
	cwd  string // real path
	root string // real path, cwd or above it
	// folders hold a `.car` that applies, outermost first; the root's own is last
	// where it has one.
	folders []string
}

// find walks up from the working directory (D-32). The home is where a walk ends:
// it is nobody's project, and a `.git` of dotfiles there must not make the whole
// home the root of every folder below it.
func find(c Config) (place, error) {
	cwd, err := filepath.EvalSymlinks(c.Cwd)
	if err != nil {
		return place{}, fmt.Errorf("working directory: %w", err)
	}
	personal := personalFolders(c)
	home, err := realPath(c.Home)
	if err != nil {
		return place{}, err
	}
	p := place{cwd: cwd}
	for dir := cwd; ; dir = filepath.Dir(dir) {
		if dir == home && dir != cwd {
			break
		}
		car, err := hasFolder(dir, personal)
		if err != nil {
			return place{}, err
		}
		git, err := exists(filepath.Join(dir, ".git"))
		if err != nil {
			return place{}, err
		}
		if car {
			p.folders = append([]string{dir}, p.folders...)
		}
		if p.root == "" && (car || git) {
			p.root = dir
		}
		if dir == home || filepath.Dir(dir) == dir {
			break
		}
	}
	if p.root == "" {
		p.root = cwd
	}
	return p, nil
}

func realPath(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return filepath.Clean(path), nil
	}
	return real, err
}

// personalFolders are the folders called `.car` that are a person's state and no
// project's: $CAR_HOME and where it is by default.
func personalFolders(c Config) (found []fs.FileInfo) {
	for _, dir := range []string{c.CarHome, filepath.Join(c.Home, FolderName)} {
		if info, err := os.Stat(dir); err == nil && filepath.IsAbs(dir) {
			found = append(found, info)
		}
	}
	return found
}

// hasFolder says whether dir holds a project's `.car`. One that cannot be looked
// at, or is no folder, is an error: it may forbid.
func hasFolder(dir string, personal []fs.FileInfo) (bool, error) {
	path := filepath.Join(dir, FolderName)
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, unreadable(path, err)
	}
	if target, err := os.Stat(path); err == nil {
		for _, p := range personal {
			if os.SameFile(target, p) {
				return false, nil
			}
		}
	}
	if !info.IsDir() {
		return false, &Error{File: path, Problem: "is not a folder", Hint: "make it a folder, or take it away"}
	}
	return true, nil
}

func exists(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, unreadable(path, err)
	}
	return true, nil
}

func unreadable(path string, err error) *Error {
	var e *fs.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return &Error{File: path, Problem: "cannot be read: " + strings.TrimPrefix(err.Error(), "openat "), Hint: "make it readable, or take it away", Err: err}
}
