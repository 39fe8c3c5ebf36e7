package suggest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Request is what a suggestion rests on.
type Request struct {
	// Files is the workspace, Dir the folder where the person stands, relative to it.
	Files fs.FS
	Dir   string
	// Objective is what the person asked for.
	Objective string
	// Has reports whether a program is installed.
	Has func(program string) bool
}

// Suggestion is a check, or why there is none.
type Suggestion struct {
	Suggested bool `json:"suggested"`
	// Check is a shell command for the root of the workspace.
	Check string `json:"check,omitempty"`
	// Confidence is "high" or "medium".
	Confidence string   `json:"confidence,omitempty"`
	Rationale  string   `json:"rationale"`
	Signals    []string `json:"signals,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
}

// kind is a kind of project: the file that tells it, the check and its program.
type kind struct{ marker, check, program string }

// kinds are looked for in order; the first marker in a folder counts. A marker that
// begins with * is an ending.
var kinds = []kind{
	{"go.mod", "go test ./...", "go"},
	{"Cargo.toml", "cargo test", "cargo"},
	{"package.json", "", ""}, // its scripts decide
	{"pyproject.toml", "python3 -m pytest", "python3"},
	{"setup.py", "python3 -m pytest", "python3"},
	{"Package.swift", "swift test", "swift"},
	{"CMakeLists.txt", "cmake -S . -B build && cmake --build build && ctest --test-dir build", "cmake"},
	{"build.gradle", "gradle test", "gradle"},
	{"build.gradle.kts", "gradle test", "gradle"},
	{"pom.xml", "mvn -q test", "mvn"},
	{"*.sln", "dotnet test", "dotnet"},
	{"*.csproj", "dotnet test", "dotnet"},
	{"composer.json", "vendor/bin/phpunit", "php"},
	{"Gemfile", "bundle exec rake test", "bundle"},
	{"mix.exs", "mix test", "mix"},
	{"Makefile", "", "make"}, // only with a target test
}

var (
	// pathWord is a relative path in an objective: with a slash, or with an ending.
	pathWord = regexp.MustCompile("(?:^|[\\s`'\"(])((?:\\./)?(?:[\\w@.-]+/)+[\\w@.-]+|[\\w@-]+\\.[A-Za-z]\\w{0,7})(?:$|[\\s`'\"),.;:!?])")
	creates  = regexp.MustCompile(`(?i)^\s*(?:please\s+)?(?:create|write|generate|produce|add)\b`)
	target   = regexp.MustCompile(`(?m)^test\s*:`)
)

// For suggests a check for the objective. A relative path in it picks the nearest
// project; one that is to be made has to be there in the end as well.
func For(r Request) (Suggestion, error) {
	dir, file, err := r.place()
	if err != nil {
		return Suggestion{}, err
	}
	s, err := r.project(dir)
	if err != nil {
		return Suggestion{}, err
	}
	if file == "" || !creates.MatchString(r.Objective) {
		return s, nil
	}
	s.Signals = append(s.Signals, "the objective makes "+file)
	exists := "test -f " + quote(file)
	if s.Suggested {
		s.Check = exists + " && " + s.Check
		s.Rationale = file + " has to be there, and " + s.Rationale
		return s, nil
	}
	s.Suggested, s.Check, s.Confidence = true, exists, "medium"
	s.Rationale = file + " has to be there; no project says how to verify it"
	return s, nil
}

// place is the folder that the objective is about, and the file it names.
func (r Request) place() (dir, file string, err error) {
	dir = path.Clean(r.Dir)
	m := pathWord.FindStringSubmatch(r.Objective)
	if m == nil {
		return dir, "", nil
	}
	file = path.Join(dir, m[1])
	if !fs.ValidPath(file) {
		return dir, "", nil
	}
	info, err := fs.Stat(r.Files, file)
	switch {
	case err == nil && info.IsDir():
		return file, "", nil
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return path.Dir(file), file, nil
	}
	return "", "", fmt.Errorf("look for %q: %w", file, err)
}

// project is the nearest project from dir up to the root.
func (r Request) project(dir string) (Suggestion, error) {
	for {
		s, found, err := r.in(dir)
		if err != nil || found {
			return s, err
		}
		if dir == "." {
			return Suggestion{Rationale: "no project with a known way to test it was found: name the check yourself"}, nil
		}
		dir = path.Dir(dir)
	}
}

// in looks at one folder.
func (r Request) in(dir string) (s Suggestion, found bool, err error) {
	entries, err := fs.ReadDir(r.Files, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, false, nil
	}
	if err != nil {
		return s, false, fmt.Errorf("look into %q: %w", dir, err)
	}
	taken := false
	for _, k := range kinds {
		at := slices.IndexFunc(entries, func(e fs.DirEntry) bool {
			ending, open := strings.CutPrefix(k.marker, "*")
			return !e.IsDir() && (e.Name() == k.marker || open && strings.HasSuffix(e.Name(), ending))
		})
		if at < 0 {
			continue
		}
		marker := path.Join(dir, entries[at].Name())
		check, program, warning := r.check(k, dir)
		if warning != "" {
			s.Warnings = append(s.Warnings, warning)
		}
		if check == "" {
			continue
		}
		s.Signals = append(s.Signals, marker)
		if !taken {
			taken = true
			s.accept(dir, marker, check, program, r.Has)
		}
	}
	if !taken {
		return Suggestion{Rationale: "nothing certain", Warnings: s.Warnings}, len(s.Warnings) > 0, nil
	}
	if len(s.Signals) > 1 {
		s.Confidence = "medium"
	}
	return s, true, nil
}

// accept takes a check. One whose program is not there is none.
func (s *Suggestion) accept(dir, marker, check, program string, has func(string) bool) {
	if dir != "." {
		check = "cd " + quote(dir) + " && " + check
	}
	s.Suggested, s.Check, s.Confidence, s.Rationale = true, check, "high", marker+" says how this project is tested"
	if has != nil && !has(program) {
		s.Suggested, s.Check, s.Confidence = false, "", ""
		s.Rationale = marker + " says how, but the program is not installed"
		s.Warnings = append(s.Warnings, program+" is not installed")
	}
}

// check is the command of a kind in a folder, empty where it is not certain.
func (r Request) check(k kind, dir string) (check, program, warning string) {
	switch k.marker {
	case "package.json":
		return r.scripts(dir)
	case "Makefile":
		data, err := fs.ReadFile(r.Files, path.Join(dir, "Makefile"))
		if err != nil || !target.Match(data) {
			return "", "", ""
		}
		return "make test", k.program, ""
	}
	return k.check, k.program, ""
}

// managers are package managers by their lock files.
var managers = []struct{ lock, program string }{
	{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lockb", "bun"}, {"bun.lock", "bun"},
}

// scripts reads the test script of a package; the one that npm init writes tests nothing.
func (r Request) scripts(dir string) (check, program, warning string) {
	data, err := fs.ReadFile(r.Files, path.Join(dir, "package.json"))
	if err != nil {
		return "", "", ""
	}
	var p struct {
		Scripts map[string]string `json:"scripts"`
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return "", "", path.Join(dir, "package.json") + " is not valid JSON"
	}
	script := strings.TrimSpace(p.Scripts["test"])
	switch {
	case script == "":
		return "", "", ""
	case strings.Contains(script, "no test specified"):
		return "", "", path.Join(dir, "package.json") + " has the placeholder test script, which tests nothing"
	}
	program = "npm"
	for _, m := range managers {
		if _, err := fs.Stat(r.Files, path.Join(dir, m.lock)); err == nil {
			program = m.program
			break
		}
	}
	return program + " run test", program, ""
}

// quote makes one word of a path for a shell.
func quote(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-@+", r)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
