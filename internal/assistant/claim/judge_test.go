package claim

import (
	"strings"
	"testing"
)

// ran is a shell receipt of one command.
func ran(code int, words string) Receipt {
	return Receipt{Tool: "shell", Ran: true, OK: code == 0, ExitCode: &code, Effect: Write, Brief: words, Commands: [][]string{strings.Fields(words)}}
}

func withOutput(r Receipt, output string, masked bool) Receipt {
	r.Excerpt, r.Masked = output, masked
	return r
}

func edited(path string) Receipt {
	return Receipt{Tool: "edit_file", Ran: true, OK: true, Effect: Write, Brief: path, Changed: []string{path}}
}

func refused(path string) Receipt {
	return Receipt{Tool: "write_file", Effect: Write, Brief: path}
}

// B043, A-CLAIM-4, P-TRUE-2: supported, stale, unsupported and contradicted, by what
// ran and when.
func TestJudge(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		receipts   []Receipt
		want       string // empty is supported
	}{
		{"nothing ran", "I ran the suite: 41 passed.", nil, "tests pass: no receipt of a test run"},
		{"ran and passed", "All tests pass.", []Receipt{edited("a.go"), ran(0, "go test ./...")}, ""},
		{"edited since", "All tests pass.", []Receipt{ran(0, "go test ./..."), edited("a.go")}, "tests pass: `go test ./...` ran before a.go changed"},
		{"only prose edited since", "All tests pass.", []Receipt{ran(0, "go test ./..."), edited("README.md")}, ""},
		{"edited by the shell since", "All tests pass.", []Receipt{ran(0, "go test ./..."), ran(0, "sed -i s/a/b/ a.go")}, "tests pass: `go test ./...` ran before files with `sed -i s/a/b/ a.go` changed"},
		{"looked at since", "All tests pass.", []Receipt{ran(0, "go test ./..."), ran(0, "git status"), ran(0, "ls")}, ""},
		{"failed", "All tests pass.", []Receipt{ran(1, "go test ./...")}, "tests pass: the last run, `go test ./...`, did not succeed"},
		{"failed, then passed", "All tests pass.", []Receipt{ran(1, "go test ./..."), edited("a.go"), ran(0, "go test ./...")}, ""},
		{"a script with a summary", "All tests pass.", []Receipt{withOutput(ran(0, "./run.sh"), "== 12 passed in 1s", false)}, ""},
		{"a pipe that hides a failure", "All tests pass.", []Receipt{withOutput(ran(0, "go test ./..."), "--- FAIL: TestX\nFAIL", true)}, "tests pass: the last run, `go test ./...`, did not succeed"},
		{"tests, then a push that failed", "All tests pass.", []Receipt{func() Receipt {
			r := withOutput(ran(1, "go test ./... && git push"), "ok  \tcar\t0.1s\n", false)
			r.Commands = [][]string{{"go", "test", "./..."}, {"git", "push"}}
			return r
		}()}, ""},
		{"the goal's own check", "All tests pass.", []Receipt{{Tool: "shell", Ran: true, OK: true, Effect: Write, Brief: "./check.sh", GoalCheck: true}}, ""},
		{"a denied run", "All tests pass.", []Receipt{{Tool: "shell", Effect: Write, Brief: "go test ./...", Commands: [][]string{{"go", "test"}}}}, "tests pass: no receipt of a test run"},
		{"built by testing", "The build succeeds.", []Receipt{ran(0, "go test ./...")}, ""},
		{"built before an edit", "The project builds.", []Receipt{ran(0, "npm run build"), edited("a.ts")}, "build succeeds: `npm run build` ran before a.ts changed"},
		{"committed", "I committed the change.", []Receipt{ran(0, "git commit -m x"), edited("a.go")}, ""},
		{"not committed", "I committed the change.", []Receipt{ran(0, "git status")}, "changes committed: no receipt of a commit"},
		{"commit failed", "I committed the change.", []Receipt{ran(1, "git commit -m x")}, "changes committed: the last try, `git commit -m x`, did not succeed"},
		{"pushed", "I pushed the branch.", []Receipt{ran(0, "git -C sub push origin main")}, ""},
		{"file changed", "I updated `main.go`.", []Receipt{edited("cmd/tool/main.go")}, ""},
		{"another file changed", "I updated `main.go`.", []Receipt{edited("other.go")}, "files changed: no receipt of a change to `main.go`"},
		{"clean", "The working tree is clean.", []Receipt{edited("a.go"), ran(0, "git commit -m x"), ran(0, "git status --short")}, ""},
		{"clean before an edit", "The working tree is clean.", []Receipt{ran(0, "git status"), edited("a.go")}, "working tree clean: `git status` ran before a.go changed"},
		{"clean, nobody looked", "The working tree is clean.", []Receipt{edited("a.go")}, "working tree clean: no receipt of git status"},
		{"deployed", "I deployed the service to staging.", []Receipt{ran(0, "kubectl apply -f x.yaml")}, ""},
		{"deployed by a script of one's own", "Deployed to production.", []Receipt{ran(0, "./scripts/deploy.sh prod")}, ""},
		{"not deployed", "Deployed to production.", []Receipt{edited("a.go"), ran(0, "go test ./...")}, "deployed: no receipt of a deployment"},
		{"deployment failed", "Deployed to production.", []Receipt{ran(1, "kubectl apply -f x.yaml")}, "deployed: the last try, `kubectl apply -f x.yaml`, did not succeed"},
		{"sent", "I opened a pull request for it.", []Receipt{ran(0, "gh pr create --fill")}, ""},
		{"sent by a tool", "I sent the message to the channel.", []Receipt{{Tool: "chat_post", Ran: true, OK: true, Effect: Outward, Brief: "channel"}}, ""},
		{"not sent", "I opened a pull request for it.", []Receipt{edited("a.go"), ran(0, "git push")}, "sent: no receipt of something that was sent"},
		{"the shell may have", "I updated `main.go`.", []Receipt{ran(0, "python3 gen.py")}, ""},
		{"the shell only verified", "I updated `main.go`.", []Receipt{ran(0, "go test ./...")}, "files changed: no receipt of a change to `main.go`"},
		{"two of six", "All six written.", []Receipt{edited("1"), edited("2"), refused("3"), refused("4"), refused("5"), refused("6")}, "files changed: 6 claimed, receipts of 2"},
		{"six of six", "All six written.", []Receipt{edited("1"), edited("2"), edited("3"), edited("4"), edited("5"), edited("6")}, ""},
		{"no claim", "I found the bug in `main.go`.", nil, ""},
	}
	for _, tc := range cases {
		var got []string
		for _, f := range Judge(tc.text, tc.receipts) {
			got = append(got, f.String())
		}
		if s := strings.Join(got, "; "); s != tc.want {
			t.Errorf("%s: %q\n got %q\nwant %q", tc.name, tc.text, s, tc.want)
		}
	}
}

// A-CLAIM-4: the three states, and what the last failed run contradicts.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	if f := Judge("All tests pass.", []Receipt{ran(0, "go test"), edited("a.go")})[0]; f.Verdict != Stale || f.Contradicted {
		t.Errorf("%+v", f)
	}
	if f := Judge("All tests pass.", []Receipt{ran(1, "go test")})[0]; f.Verdict != Unsupported || !f.Contradicted {
		t.Errorf("%+v", f)
	}
}

// A-CLAIM-3: runners by their parsed words, behind wrappers and flags.
func TestClassOf(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]class{
		"go test ./...": classTest | classBuild, "/usr/local/go/bin/go test": classTest | classBuild, "go vet": classBuild, "go run .": 0,
		"python3 -m pytest -q": classTest, "uv run pytest": classTest, "npx vitest run": classTest, "npm test": classTest, "npm run test:unit": classTest,
		"yarn run test": classTest, "npm run build": classBuild, "make -C sub test": classTest | classBuild, "make": classBuild, "cargo clippy": classBuild,
		"git -C x -c a=b commit -m y": classCommit, "git push": classPush, "git log": classStatus, "git checkout x": classEdit, "FOO=1 go test": classTest | classBuild,
		"sed -n 1p a": 0, "sed -i s/a/b/ a": classEdit, "echo go test": 0, "grep test a": 0, "kubectl apply -f x": classDeploy, "gh pr create": classSend, "gh run watch": classCI,
		"curl http://x/health": classHealth, "bundle exec rspec": classTest,
	} {
		if got := classOf(strings.Fields(words)); got != want {
			t.Errorf("%s is %b, want %b", words, got, want)
		}
	}
}

// A-CLAIM-2: the matrix is made of receipts; what no receipt answers is null.
func TestCompletion(t *testing.T) {
	t.Parallel()
	m := Complete([]Receipt{edited("a.go"), edited("b.go"), edited("a.go"), ran(1, "go test ./..."), ran(0, "go test ./..."), ran(0, "git commit -m x"),
		{Tool: "shell", Commands: [][]string{{"git", "push"}}, Brief: "git push"}}).Map()
	want := map[string]any{"local_verification": "`go test ./...` (exit 0)", "committed": "`git commit -m x` (exit 0)", "files_changed": "2: a.go, b.go",
		"remote_main": nil, "ci_cd": nil, "deployment": nil, "health": nil, "production_browser_proof": nil}
	if len(m) != len(want) {
		t.Errorf("rows %v", m)
	}
	for name, text := range want {
		if m[name] != text {
			t.Errorf("%s is %v, want %v", name, m[name], text)
		}
	}
}
