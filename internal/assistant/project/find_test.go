package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/assistant/project"
)

// D-32: the nearest .car or .git fixes the root; without either the working
// directory is it.
func TestRoot(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		files []string
		cwd   string
		root  string
	}{
		{"nothing", nil, "home/p/a", "home/p/a"},
		{".git above", []string{"home/p/.git/HEAD"}, "home/p/a/b", "home/p"},
		{".git here", []string{"home/p/.git/HEAD"}, "home/p", "home/p"},
		{"a worktree's .git file", []string{"home/p/.git"}, "home/p/a", "home/p"},
		{".car above", []string{"home/p/.car/config.toml"}, "home/p/a/b", "home/p"},
		{".car nearer than .git", []string{"home/p/.git/HEAD", "home/p/a/.car/config.toml"}, "home/p/a/b", "home/p/a"},
		{".git nearer than .car", []string{"home/p/.car/config.toml", "home/p/a/.git/HEAD"}, "home/p/a/b", "home/p/a"},
		{"outside of the home", []string{"srv/p/.git/HEAD"}, "srv/p/a", "srv/p"},
		{"the person's folder is no project's", []string{"home/.car/config.toml"}, "home/p/a", "home/p/a"},
		{"dotfiles in the home", []string{"home/.git/HEAD"}, "home/p/a", "home/p/a"},
		{"the home in a repository", []string{".git/HEAD"}, "home", "home"},
		{"the home itself", []string{"home/.git/HEAD", "home/.car/config.toml"}, "home", "home"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, nil)
			for _, f := range c.files {
				h.write(f, "")
			}
			p := h.load(c.cwd)
			if p.Root != h.path(c.root) || p.Cwd != h.path(c.cwd) {
				t.Errorf("root %s, cwd %s, want %s and %s", p.Root, p.Cwd, h.path(c.root), h.path(c.cwd))
			}
		})
	}
}

// D-32, G-TRUST-3: CAR_HOME elsewhere, by any spelling, is the person's and never
// a project's; the folder where it is by default is not either.
func TestThePersonsFolderIsNoProjects(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"home/.car/policies/a.toml": `deny_tool = ["x"]`, "state/policies/b.toml": `deny_tool = ["y"]`, "home/p/x": ""})
	h.cfg.CarHome = h.path("state")
	h.link("home/p/.car", h.path("state"))
	p := h.load("home/p/a")
	if p.Root != h.path("home/p/a") || len(p.Rules) != 1 || p.Rules[0].Rules.DenyTool[0] != "y" || p.Rules[0].Untrusted {
		t.Errorf("root %s, rules %+v, want the person's once and no project", p.Root, p.Rules)
	}
	if p := h.load("home"); len(p.Rules) != 1 || p.Rules[0].Rules.DenyTool[0] != "y" {
		t.Errorf("in the home itself: rules %+v, want the person's once and no project", p.Rules)
	}
}

// A working directory that is reached through a link is judged by where it is.
func TestTheRootIsARealPath(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"home/p/.git/HEAD": "", "home/p/a/x": ""})
	h.link("home/link", h.path("home/p/a"))
	if p := h.load("home/link"); p.Root != h.path("home/p") || p.Cwd != h.path("home/p/a") {
		t.Errorf("root %s, cwd %s", p.Root, p.Cwd)
	}
}

// P-GUARD-6: a .car that is no folder, or cannot be read, is not absent.
func TestABrokenFolderIsNotAbsent(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(h *house){
		"is not a folder": func(h *house) { h.write("home/p/.car", "") },
		"is not a folder ": func(h *house) {
			h.write("home/elsewhere/config.toml", "")
			h.link("home/p/.car", h.path("home/elsewhere"))
		},
		"is not a folder  ": func(h *house) { h.link("home/p/.car", "nowhere") },
	} {
		h := newHouse(t, nil)
		make(h)
		_, err := h.try("home/p/a")
		all := problems(err)
		if len(all) != 1 || all[0].File != h.path("home/p/.car") || !strings.Contains(err.Error(), strings.TrimSpace(name)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A constructor names the field that is wrong.
func TestLoadChecksItsConfig(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for want, c := range map[string]project.Config{
		"Config.Cwd":        {Cwd: "."},
		"Config.Home":       {Cwd: dir, Home: "home"},
		"Config.CarHome":    {Cwd: dir, CarHome: ".car"},
		"working directory": {Cwd: filepath.Join(dir, "gone")},
	} {
		if _, err := project.Load(t.Context(), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error about %s", err, want)
		}
	}
	must(t, os.Mkdir(filepath.Join(dir, "p"), 0o755))
	if p, err := project.Load(t.Context(), project.Config{Cwd: filepath.Join(dir, "p")}); err != nil || len(p.Files) != 0 {
		t.Errorf("with nothing but a working directory: %v, %v", p, err)
	}
}
