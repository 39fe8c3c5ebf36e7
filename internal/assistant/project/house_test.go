package project_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/assistant/project"
	"car/internal/engine/ir"
)

// house is a home with projects in it.
type house struct {
	t    *testing.T
	top  string // real path
	home string
	cfg  project.Config
	// trusted holds root, name and digest of what a person trusts.
	trusted map[[2]string]ir.Digest
}

func newHouse(t *testing.T, files map[string]string) *house {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	h := &house{t: t, top: top, home: filepath.Join(top, "home"), trusted: map[[2]string]ir.Digest{}}
	must(t, os.MkdirAll(h.home, 0o755))
	for name, text := range files {
		h.write(name, text)
	}
	h.cfg = project.Config{Cwd: h.home, Home: h.home, CarHome: filepath.Join(h.home, ".car"), Trust: h.trust}
	return h
}

func (h *house) path(name string) string { return filepath.Join(h.top, filepath.FromSlash(name)) }

func (h *house) write(name, text string) {
	h.t.Helper()
	must(h.t, os.MkdirAll(filepath.Dir(h.path(name)), 0o755))
	if strings.HasSuffix(name, "/") {
		must(h.t, os.MkdirAll(h.path(name), 0o755))
		return
	}
	must(h.t, os.WriteFile(h.path(name), []byte(text), 0o644))
}

func (h *house) link(name, target string) {
	h.t.Helper()
	must(h.t, os.MkdirAll(filepath.Dir(h.path(name)), 0o755))
	must(h.t, os.Symlink(target, h.path(name)))
}

func (h *house) trust(_ context.Context, root, name string, digest ir.Digest) (trusted, known bool, err error) {
	d, known := h.trusted[[2]string{root, name}]
	return known && d == digest, known, nil
}

// trustNow trusts a file of a project as it is now.
func (h *house) trustNow(root, name string) {
	h.t.Helper()
	text, err := os.ReadFile(filepath.Join(h.path(root), filepath.FromSlash(name)))
	must(h.t, err)
	h.trusted[[2]string{h.path(root), name}] = project.DigestOf(text)
}

func (h *house) load(cwd string) *project.Project {
	h.t.Helper()
	p, err := h.try(cwd)
	must(h.t, err)
	return p
}

func (h *house) try(cwd string) (*project.Project, error) {
	h.t.Helper()
	must(h.t, os.MkdirAll(h.path(cwd), 0o755))
	c := h.cfg
	c.Cwd = h.path(cwd)
	return project.Load(h.t.Context(), c)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// problems flattens an error into its parts.
func problems(err error) (all []*project.Error) {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		for _, one := range joined.Unwrap() {
			all = append(all, problems(one)...)
		}
		return all
	}
	var p *project.Error
	if errors.As(err, &p) {
		return append(all, p)
	}
	return all
}
