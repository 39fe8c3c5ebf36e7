package match

import (
	"strings"
	"testing"
	"time"
)

// G-POL-5: `run` names program and leading words; options in between hide nothing.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		pattern, words string
		want           bool
	}{
		{"git push", "git push origin main", true},
		{"git push", "git --no-pager push", true},
		{"git", "git push", true},
		{"  git   push ", "git push", true},
		{"git push", "git status push", false},
		{"git push", "git", false},
		{"git push", "git pushy", false},
		{"git push", "./git push", false},
		{"git push --force", "git push origin --force", false},
		{"git push --force", "git push --force origin", true},
		{"", "git", false},
		{"git", "", false},
	} {
		if got := Run(row.pattern, strings.Fields(row.words)); got != row.want {
			t.Errorf("%q on %q: %v", row.pattern, row.words, got)
		}
	}
}

// G-INTENT-1, G-FLOW-1: globs over paths; a folder that fits takes what is below.
func TestPath(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		glob, name string
		want       bool
	}{
		{"*.pem", "a/b/key.pem", true},
		{"*.pem", "key.PEM", true},
		{".env*", "app/.env.local", true},
		{"secrets/**", "secrets/db.yaml", true},
		{"secrets/**", "Secrets/a/b", true},
		{"secrets/**", "secrets", true},
		{"secrets/**", "app/secrets/db", false},
		{"secrets/**", "secretsx/db", false},
		{"**/credentials*", "credentials.json", true},
		{"**/credentials*", "a/b/credentials", true},
		{"src", "src/a/b.go", true},
		{"src/", "src/a/b.go", true},
		{"./src/*.go", "src/a.go", true},
		{"src/*.go", "src/a/b.go", false},
		{"a/**/z", "a/z", true},
		{"a/**/z", "a/b/c/z/y", true},
		{"a/**/y/z", "a/y/b/y/z", true},
		{"**", "anything/at/all", true},
		{"src/?.go", "./src/./a.go", true},
		{"[", "[", false},
	} {
		if got := Path(row.glob, row.name); got != row.want {
			t.Errorf("%q on %q: %v", row.glob, row.name, got)
		}
	}
}

// V-GEN-6: no glob costs more than the square of its length.
func TestPathIsBounded(t *testing.T) {
	t.Parallel()
	glob := strings.Repeat("**/a/", 200) + "b"
	name := strings.Repeat("a/", 2000) + "c"
	start := time.Now()
	if Path(glob, name) {
		t.Error("fits")
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("took %s", took)
	}
}

// V-INTENT-2: a glob that means nothing is an error, never a list that fits nothing.
func TestChecks(t *testing.T) {
	t.Parallel()
	for glob, bad := range map[string]bool{"src/**": false, "*.go": false, "": true, "[": true, "a/[b": true, "../x": true, "a/../b": true} {
		if err := CheckPath(glob); (err != nil) != bad {
			t.Errorf("%q: %v", glob, err)
		}
	}
	for host, bad := range map[string]bool{"example.com": false, "*.example.com": false, "*": false, "127.0.0.1": false, "[::1]": false, "": true, "*.": true, "ex*mple.com": true, "http://x": true, "x/y": true} {
		if err := CheckHost(host); (err != nil) != bad {
			t.Errorf("%q: %v", host, err)
		}
	}
}

// G-INTENT-1: hosts by name, spelled any way.
func TestHost(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		pattern, host string
		want          bool
	}{
		{"example.com", "EXAMPLE.com.", true},
		{"example.com", "example.com:8443", true},
		{"example.com", "evil-example.com", false},
		{"example.com", "example.com.evil.net", false},
		{"*.example.com", "api.example.com", true},
		{"*.example.com", "example.com", false},
		{"*.example.com", "apiexample.com", false},
		{"::1", "[::1]:80", true},
		{"*", "any", true},
		{"", "", false},
	} {
		if got := Host(row.pattern, row.host); got != row.want {
			t.Errorf("%q on %q: %v", row.pattern, row.host, got)
		}
	}
}
