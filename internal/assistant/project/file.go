package project

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"car/internal/engine/ir"
)

// maxFile bounds a file of settings or rules, in bytes.
const maxFile = 1 << 20

// File is a file that governs, as it was read.
type File struct {
	// Path is absolute; Name is its path within the project or $CAR_HOME, with slashes.
	Path string
	Name string
	// Root is the project's real path; empty for the person's own files.
	Root   string
	Digest ir.Digest
	// Trusted says that its permissions count: the person's own, or a digest that a
	// person trusts (G-TRUST).
	Trusted bool
	// Changed says that another content of it was trusted (G-TRUST-2).
	Changed bool
	// Outer says that it belongs to a project around this one: only its prohibitions count (D-32).
	Outer bool

	data []byte
}

// Text is the file's content, whose digest is Digest.
func (f File) Text() []byte { return slices.Clone(f.data) }

// Decode reads a TOML file into a pointer to a struct of `toml` tags as strictly as
// every other file: unknown keys, wrong types and words are *Errors with their
// lines. It returns the line of each key, by its path, as in `gates[0].check`.
func (f File) Decode(v any) (lines map[string]int, err error) { return decode(f.Path, f.data, v) }

// Decode reads a TOML file that a person named as strictly as every other; see File.Decode.
func Decode(file string, data []byte, v any) (lines map[string]int, err error) {
	return decode(file, data, v)
}

// DigestOf is the digest that trust is recorded with.
func DigestOf(content []byte) ir.Digest {
	sum := sha256.Sum256(content)
	return ir.Digest(hex.EncodeToString(sum[:]))
}

// folder reads the files of one `.car/` or of $CAR_HOME. fsys stays inside of it.
type folder struct {
	base string // absolute path, for messages
	fsys fs.FS
}

// read returns a text file, or nothing where there is none.
func (d folder) read(name string) (data []byte, found bool, err error) {
	full := filepath.Join(d.base, filepath.FromSlash(name))
	info, err := fs.Stat(d.fsys, name)
	if errors.Is(err, fs.ErrNotExist) && !d.isLink(name) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, unreadable(full, err)
	}
	if !info.Mode().IsRegular() {
		return nil, false, &Error{File: full, Problem: "is not a regular file"}
	}
	data, err = readAll(d.fsys, name)
	if err != nil {
		return nil, false, unreadable(full, err)
	}
	if err := checkText(full, data); err != nil {
		return nil, false, err
	}
	return data, true, nil
}

// isLink tells a link that leads nowhere from a file that is not there.
func (d folder) isLink(name string) bool {
	info, err := fs.Lstat(d.fsys, name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func readAll(fsys fs.FS, name string) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	return data, errors.Join(err, f.Close())
}

func checkText(path string, data []byte) error {
	switch {
	case len(data) > maxFile:
		return &Error{File: path, Problem: fmt.Sprintf("has more than %d bytes", maxFile)}
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		return &Error{File: path, Line: 1, Problem: "begins with a byte order mark", Hint: "save it as UTF-8 without one"}
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return &Error{File: path, Line: 1, Problem: "is UTF-16", Hint: "save it as UTF-8 without a byte order mark"}
	case !utf8.Valid(data):
		return &Error{File: path, Line: 1 + bytes.Count(validPrefix(data), []byte("\n")), Problem: "is not UTF-8"}
	}
	return nil
}

func validPrefix(data []byte) []byte {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n <= 1 {
			return data[:i]
		}
		i += n
	}
	return data
}

// knownNames are the entries of a project's `.car/`.
var knownNames = []string{"config.toml", "intent.json", "mcp.toml", "policies", "production-gates.toml", "tool-labels.json", toolsName}

// testsName is the file of policies/ that holds cases, not rules (G-POL-6).
const testsName = "tests.toml"

// strangers refuses files that look like rules and would govern nothing: a
// misspelt name must not fail silently (P-GUARD-6).
func (d folder) strangers() error {
	entries, err := fs.ReadDir(d.fsys, ".")
	if err != nil {
		return unreadable(d.base, err)
	}
	var errs []error
	for _, e := range entries {
		name := e.Name()
		looksLikeRules := e.IsDir() || strings.HasSuffix(name, ".toml") || strings.HasSuffix(name, ".json")
		if !looksLikeRules || strings.HasPrefix(name, ".") || slices.Contains(knownNames, name) {
			continue
		}
		problem := &Error{File: filepath.Join(d.base, name), Problem: "is no file that car knows, so it governs nothing", Hint: "known are " + strings.Join(knownNames, ", ")}
		if near := nearest(name, knownNames); near != "" {
			problem.Hint = fmt.Sprintf("is %q meant?", near)
		}
		errs = append(errs, problem)
	}
	return errors.Join(errs...)
}

// policies lists the rule files in the order of their names, which is ReadDir's (G-POL-1).
func (d folder) policies() ([]string, error) {
	const dir = "policies"
	base := filepath.Join(d.base, dir)
	info, err := fs.Stat(d.fsys, dir)
	if errors.Is(err, fs.ErrNotExist) && !d.isLink(dir) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(base, err)
	}
	if !info.IsDir() {
		return nil, &Error{File: base, Problem: "is not a folder"}
	}
	entries, err := fs.ReadDir(d.fsys, dir)
	if err != nil {
		return nil, unreadable(base, err)
	}
	var names []string
	var errs []error
	for _, e := range entries {
		switch name := e.Name(); {
		case e.IsDir():
			errs = append(errs, &Error{File: filepath.Join(base, name), Problem: "is a folder, and rules are read from policies itself only", Hint: "move its files up"})
		case strings.HasSuffix(name, ".toml") && name != testsName && !strings.HasPrefix(name, "."):
			names = append(names, path.Join(dir, name))
		}
	}
	return names, errors.Join(errs...)
}

// openFolder opens a folder such that nothing outside of it can be read; missing is nil.
func openFolder(dir string) (*os.Root, error) {
	r, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(dir, err)
	}
	return r, nil
}
