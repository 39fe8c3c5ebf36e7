package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/policy"
)

// Config says where to look. Paths are absolute; all but Cwd may be empty.
type Config struct {
	Cwd string
	// Home is the person's home, where the walk ends; CarHome is $CAR_HOME.
	Home    string
	CarHome string
	// Trust says whether a person trusts this content of a project's file, and
	// whether they ever trusted another. nil trusts nothing.
	Trust func(ctx context.Context, root, name string, digest ir.Digest) (trusted, known bool, err error)
	// Env looks a variable up, for the headers of the person's own providers; nil knows none.
	Env func(name string) (string, bool)
}

func (c Config) check() error {
	if !filepath.IsAbs(c.Cwd) {
		return fmt.Errorf("project: Config.Cwd %q is not an absolute path", c.Cwd)
	}
	for name, p := range map[string]string{"Home": c.Home, "CarHome": c.CarHome} {
		if p != "" && !filepath.IsAbs(p) {
			return fmt.Errorf("project: Config.%s %q is not an absolute path", name, p)
		}
	}
	return nil
}

// Project is a working directory with everything that governs it.
type Project struct {
	// Root is the real path of the project, fixed for the session (D-32); Cwd is the
	// real path of the working directory, at or below it.
	Root string
	Cwd  string
	// Files are all files that were read, the outermost first; those that are for
	// other rooms, such as intent.json, are here with their text.
	Files    []File
	Settings Settings
	// Rules are the policy files in force: the person's, then projects from the outermost in.
	Rules []policy.RuleFile
	// Tools are the programs that models may call: the person's, then the project's.
	Tools []Tool
	// Servers are the MCP servers in force: the person's, then the project's.
	Servers []Server
	// Ignored are the keys that do not count, and why.
	Ignored []Ignored

	config Config
}

// Load finds and reads everything. Its error joins one *Error for each thing that
// is wrong; with an error there is no project.
func Load(ctx context.Context, c Config) (*Project, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	where, err := find(c)
	if err != nil {
		return nil, err
	}
	r := reader{ctx: ctx, config: c, root: where.root}
	r.merger.set = defaults()
	r.folder(c.CarHome, "", false)
	for _, dir := range where.folders {
		r.folder(filepath.Join(dir, FolderName), dir, dir != where.root)
	}
	if err := errors.Join(r.errs...); err != nil {
		return nil, err
	}
	p := &Project{Root: where.root, Cwd: where.cwd, Files: r.files, Rules: r.rules, Tools: r.programs, Servers: r.servers, config: c}
	p.Settings, p.Ignored = r.merger.set, append(r.merger.ignored, r.ignored...)
	return p, nil
}

// reader reads folder after folder and keeps every error.
type reader struct {
	ctx    context.Context
	config Config
	root   string
	merger merger
	files  []File
	rules  []policy.RuleFile
	// programs are the tools in force.
	programs []Tool
	servers  []Server
	ignored  []Ignored
	errs     []error
}

// folder reads one `.car/`, or $CAR_HOME where project is empty.
func (r *reader) folder(dir, project string, outer bool) {
	if dir == "" {
		return
	}
	root, err := openFolder(dir)
	if err != nil || root == nil {
		r.fail(err)
		return
	}
	defer root.Close()
	d := folder{base: dir, fsys: root.FS()}
	if project == "" {
		// A person's own files may be links into a folder of dotfiles.
		d.fsys = os.DirFS(dir)
	} else {
		r.fail(d.strangers())
	}
	r.settings(d, project, outer)
	names, err := d.policies()
	r.fail(err)
	for _, name := range names {
		r.policy(d, name, project, outer)
	}
	var others []string
	if project != "" {
		others = []string{"intent.json", "production-gates.toml", "tool-labels.json"}
	}
	for _, name := range others {
		r.file(d, name, project, outer)
	}
	r.tools(d, project, outer)
	r.mcp(d, project, outer)
}

func (r *reader) settings(d folder, project string, outer bool) {
	f := r.file(d, "config.toml", project, outer)
	if f == nil {
		return
	}
	l := layer{file: f}
	var err error
	if l.lines, err = decode(f.Path, f.data, &l.config); err != nil {
		r.fail(err)
		return
	}
	if errs := l.validate(r.config); len(errs) > 0 {
		r.fail(errs...)
		return
	}
	r.merger.merge(l)
}

func (r *reader) policy(d folder, name, project string, outer bool) {
	f := r.file(d, name, project, outer)
	if f == nil {
		return
	}
	rules, err := readRules(f)
	if err != nil {
		r.fail(err)
		return
	}
	r.rules = append(r.rules, rules)
	r.ignored = append(r.ignored, permissions(f, rules)...)
}

// file reads one file with its digest and trust; nil is missing or broken.
func (r *reader) file(d folder, name, project string, outer bool) *File {
	data, found, err := d.read(name)
	if err != nil || !found {
		r.fail(err)
		return nil
	}
	f := File{Path: filepath.Join(d.base, filepath.FromSlash(name)), Name: name, Root: project, Outer: outer,
		Digest: DigestOf(data), Trusted: project == "", data: data}
	if project != "" {
		f.Name = path.Join(FolderName, name)
	}
	if project != "" && !outer && !r.trust(&f) {
		return nil
	}
	r.files = append(r.files, f)
	return &r.files[len(r.files)-1]
}

func (r *reader) fail(errs ...error) {
	for _, err := range errs {
		if err != nil {
			r.errs = append(r.errs, err)
		}
	}
}

// Waiting are the project's files whose permissions wait for trust, with the
// digests that `car trust` records.
func (p *Project) Waiting() (files []File) {
	for _, f := range p.Files {
		if !f.Trusted && !f.Outer {
			files = append(files, f)
		}
	}
	return files
}

// Notice is the one line that says what is ignored until a person trusts it, and
// how (G-TRUST-2); empty where nothing is.
func (p *Project) Notice() string {
	var keys, changed []string
	for _, i := range p.Ignored {
		if i.Waits {
			name, err := filepath.Rel(p.Root, i.File)
			if err != nil {
				name = i.File
			}
			keys = append(keys, fmt.Sprintf("%s (%s:%d)", i.Key, filepath.ToSlash(name), i.Line))
		}
	}
	for _, f := range p.Files {
		if f.Changed {
			changed = append(changed, f.Name)
		}
	}
	text := ""
	if len(keys) > 0 {
		text = "ignored until you run `car trust`: " + strings.Join(keys, ", ")
	}
	if len(changed) > 0 {
		if text != "" {
			text += "; "
		}
		text += "changed since you trusted it: " + strings.Join(changed, ", ")
	}
	return text
}
