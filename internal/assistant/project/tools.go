package project

import (
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

	"car/internal/engine/ir"
)

// toolsName is the file of programs that models may call.
const toolsName = "tools.toml"

// Tool is a program that a model may call, as its owner describes it (E-TOOL-2).
type Tool struct {
	Name        string            `toml:"name"`
	Description string            `toml:"description"`
	Command     string            `toml:"command"`
	Args        []string          `toml:"args"`
	Dir         string            `toml:"dir"`
	Env         map[string]string `toml:"env"`
	// TimeoutSecs bounds a call; 0 is no bound of its own.
	TimeoutSecs int64      `toml:"timeout_secs"`
	RateLimit   *RateLimit `toml:"rate_limit"`
	// Parameters and Returns are JSON Schemas.
	Parameters map[string]any `toml:"parameters"`
	Returns    map[string]any `toml:"returns"`

	// From is the file and line that it was read from.
	From string `toml:"-"`
	// Pins are the files of the project that it runs, as they were trusted (D-31).
	Pins []File `toml:"-"`
}

// RateLimit is how often a tool may be called.
type RateLimit struct {
	MaxCalls     int64   `toml:"max_calls"`
	IntervalSecs float64 `toml:"interval_secs"`
}

type toolsFile struct {
	Tool []Tool `toml:"tool"`
}

// tools reads the programs of one folder. A project's count once a person trusts the
// file and every file of the project that it runs.
func (r *reader) tools(d folder, project string, outer bool) {
	f := r.file(d, toolsName, project, outer)
	if f == nil {
		return
	}
	file := *f // pins move the files
	var v toolsFile
	lines, err := decode(file.Path, file.data, &v)
	if err != nil {
		r.fail(err)
		return
	}
	for i, t := range v.Tool {
		key := fmt.Sprintf("tool[%d]", i)
		if err := t.check(file.Path, key, lines); err != nil {
			r.fail(err)
			continue
		}
		t.From = fmt.Sprintf("%s:%d", file.Path, lines[key])
		trusted := file.Trusted
		if project != "" && !outer {
			for _, name := range t.files() {
				pin := r.pin(project, name)
				if pin != nil {
					t.Pins = append(t.Pins, *pin)
					trusted = trusted && pin.Trusted
				}
			}
		}
		if trusted {
			r.programs = append(r.programs, t)
			continue
		}
		why := whyTrust
		if outer {
			why = whyOuter
		}
		r.ignored = append(r.ignored, Ignored{File: file.Path, Line: lines[key], Key: fmt.Sprintf("tool %q", t.Name), Why: why, Waits: !outer})
	}
}

func (t Tool) check(file, key string, lines map[string]int) error {
	bad := func(field, problem string) error {
		line := lines[key+"."+field]
		if line == 0 {
			line = lines[key]
		}
		return &Error{File: file, Line: line, Key: key + "." + field, Problem: problem}
	}
	var errs []error
	if t.Name == "" {
		errs = append(errs, bad("name", "a tool needs a name"))
	}
	if t.Command == "" {
		errs = append(errs, bad("command", "a tool needs the command that it runs"))
	}
	if t.TimeoutSecs < 0 {
		errs = append(errs, bad("timeout_secs", "is less than 0"))
	}
	if l := t.RateLimit; l != nil && (l.MaxCalls <= 0 || l.IntervalSecs <= 0) {
		errs = append(errs, bad("rate_limit", "max_calls and interval_secs are more than 0"))
	}
	return errors.Join(errs...)
}

// files are the words of the tool that may name a file of the project, relative to its root.
func (t Tool) files() []string {
	var names []string
	words := t.Args
	if filepath.Base(t.Command) != t.Command { // a bare name is looked for on PATH
		words = append([]string{t.Command}, words...)
	}
	for _, word := range words {
		if !filepath.IsAbs(word) {
			word = filepath.Join(t.Dir, word)
		}
		names = append(names, word)
	}
	return names
}

// pin reads a file of the project that a tool runs, with its digest and trust; nil is
// no file of it.
func (r *reader) pin(project, name string) *File {
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(project, name)
		if err != nil {
			return nil
		}
		name = rel
	}
	name = filepath.ToSlash(filepath.Clean(name))
	if !fs.ValidPath(name) || name == "." {
		return nil
	}
	if i := slices.IndexFunc(r.files, func(f File) bool { return f.Root == project && f.Name == name }); i >= 0 {
		return &r.files[i]
	}
	digest, err := DigestOfFile(project, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular) {
		return nil
	}
	full := filepath.Join(project, filepath.FromSlash(name))
	if err != nil {
		r.fail(unreadable(full, err))
		return nil
	}
	f := File{Path: full, Name: path.Clean(name), Root: project, Digest: digest}
	if !r.trust(&f) {
		return nil
	}
	r.files = append(r.files, f)
	return &r.files[len(r.files)-1]
}

// trust looks up whether a person trusts a file of the root project.
func (r *reader) trust(f *File) (ok bool) {
	if r.config.Trust == nil {
		return true
	}
	trusted, known, err := r.config.Trust(r.ctx, f.Root, f.Name, f.Digest)
	if err != nil {
		r.fail(fmt.Errorf("trust in %s: %w", f.Path, err))
		return false
	}
	f.Trusted, f.Changed = trusted, known && !trusted
	return true
}

var errNotRegular = errors.New("is not a regular file")

// DigestOfFile is the digest of a file of a project as it is now, name relative to
// root; links that lead out of it are errors.
func DigestOfFile(root, name string) (ir.Digest, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	info, err := dir.Stat(filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", errNotRegular
	}
	f, err := dir.Open(filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return ir.Digest(hex.EncodeToString(sum.Sum(nil))), nil
}
