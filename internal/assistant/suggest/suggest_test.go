package suggest

import (
	"strings"
	"testing"
	"testing/fstest"
)

// A-GOAL-11: what is suggested, by what lies in the workspace and by the words.
func TestFor(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, files, dir, objective, check, confidence, warning string
	}{
		{"go", "go.mod", "", "make it faster", "go test ./...", "high", ""},
		{"rust", "Cargo.toml", "", "fix it", "cargo test", "high", ""},
		{"node", `package.json={"scripts":{"test":"jest"}}`, "", "fix it", "npm run test", "high", ""},
		{"node with pnpm", `package.json={"scripts":{"test":"jest"}} pnpm-lock.yaml`, "", "fix it", "pnpm run test", "high", ""},
		{"a placeholder script", `package.json={"scripts":{"test":"echo_no_test_specified"}}`, "", "fix it", "", "", "placeholder"},
		{"no script", `package.json={}`, "", "fix it", "", "", ""},
		{"broken JSON", `package.json={`, "", "fix it", "", "", "not valid JSON"},
		{"python", "pyproject.toml", "", "fix it", "python3 -m pytest", "high", ""},
		{"old python", "setup.py", "", "fix it", "python3 -m pytest", "high", ""},
		{"swift", "Package.swift", "", "fix it", "swift test", "high", ""},
		{"cmake", "CMakeLists.txt", "", "fix it", "cmake -S . -B build && cmake --build build && ctest --test-dir build", "high", ""},
		{"gradle", "build.gradle.kts", "", "fix it", "gradle test", "high", ""},
		{"maven", "pom.xml", "", "fix it", "mvn -q test", "high", ""},
		{".net", "app.sln", "", "fix it", "dotnet test", "high", ""},
		{"php", "composer.json", "", "fix it", "vendor/bin/phpunit", "high", ""},
		{"ruby", "Gemfile", "", "fix it", "bundle exec rake test", "high", ""},
		{"elixir", "mix.exs", "", "fix it", "mix test", "high", ""},
		{"make", "Makefile=test:_build", "", "fix it", "make test", "high", ""},
		{"make without a test", "Makefile=all:_build", "", "fix it", "", "", ""},
		{"two kinds", "go.mod Makefile=test:", "", "fix it", "go test ./...", "medium", ""},
		{"the nearest project", "go.mod web/package.json={\"scripts\":{\"test\":\"jest\"}}", "", "fix the colour in web/src/app.ts", "cd web && npm run test", "high", ""},
		{"from below", "go.mod a/b/x.txt", "a/b", "fix it", "go test ./...", "high", ""},
		{"a file to make", "go.mod", "", "Write docs/plan.md about it", "test -f docs/plan.md && go test ./...", "high", ""},
		{"outside of a project", "x.txt", "", "create notes.md", "test -f notes.md", "medium", ""},
		{"a file that is only named", "x.txt", "", "explain notes.md", "", "", ""},
		{"out of the workspace", "x.txt", "", "create ../notes.md", "", "", ""},
		{"nothing", "x.txt", "", "make it nice", "", "", ""},
		{"not installed", "Cargo.toml", "", "fix it", "", "", "cargo is not installed"},
	} {
		files := fstest.MapFS{}
		for _, f := range strings.Fields(tc.files) {
			name, data, _ := strings.Cut(f, "=")
			files[name] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(data, "_", " "))}
		}
		has := func(program string) bool { return tc.name != "not installed" }
		s, err := For(Request{Files: files, Dir: tc.dir, Objective: tc.objective, Has: has})
		if err != nil || s.Check != tc.check || s.Suggested != (tc.check != "") || s.Confidence != tc.confidence || s.Rationale == "" {
			t.Errorf("%s: %+v, %v; want %q", tc.name, s, err, tc.check)
		}
		if !strings.Contains(strings.Join(s.Warnings, " "), tc.warning) || tc.warning == "" && len(s.Warnings) > 0 {
			t.Errorf("%s: warnings %q, want %q", tc.name, s.Warnings, tc.warning)
		}
	}
}
