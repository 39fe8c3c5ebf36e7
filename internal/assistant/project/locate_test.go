package project

import (
	"regexp"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// G-POL-1: every key, table and element has its line, however TOML spells it.
func TestLocate(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		/* 1 */ `# a = 1`,
		/* 2 */ `a = "# [x] \" = 1" # b = 2`,
		/* 3 */ `b = [ # first`,
		/* 4 */ `  "]",`,
		/* 5 */ ``,
		/* 6 */ `  '"', 3 ]`,
		/* 7 */ `c = """`,
		/* 8 */ `d = 1`,
		/* 9 */ `\""" """`,
		/* 10 */ `e = '''`,
		/* 11 */ `x'''''`,
		/* 12 */ `f.g . "h i" = { j = 1, k.l = [ {m=1}, {m=2} ] }`,
		/* 13 */ `[tools] # table`,
		/* 14 */ `n=true`,
		/* 15 */ `[[rule]]`,
		/* 16 */ `run = 'a'`,
		/* 17 */ `[[rule]]`,
		/* 18 */ `run = "b"`,
		/* 19 */ `[rule.sub]`,
		/* 20 */ `o = 1979-05-27T07:32:00Z`,
		/* 21 */ `[[rule.more]]`,
		/* 22 */ `[[rule.more]]`,
		/* 23 */ `p = 1`,
		/* 24 */ "[ 'q.r' . \"s\\tt\" ]\r",
		/* 25 */ `u = []`,
	}, "\n")
	got := locate(text)
	want := map[string]int{
		"a": 2, "b": 3, "b[0]": 4, "b[1]": 6, "b[2]": 6, "c": 7, "e": 10,
		"f": 12, "f.g": 12, `f.g."h i"`: 12, `f.g."h i".j`: 12, `f.g."h i".k`: 12, `f.g."h i".k.l`: 12,
		`f.g."h i".k.l[0]`: 12, `f.g."h i".k.l[0].m`: 12, `f.g."h i".k.l[1]`: 12, `f.g."h i".k.l[1].m`: 12,
		"tools": 13, "tools.n": 14, "rule": 15, "rule[0]": 15, "rule[0].run": 16, "rule[1]": 17, "rule[1].run": 18,
		"rule[1].sub": 19, "rule[1].sub.o": 20, "rule[1].more": 21, "rule[1].more[0]": 21, "rule[1].more[1]": 22, "rule[1].more[1].p": 23,
		`"q.r"`: 24, `"q.r"."s\tt"`: 24, `"q.r"."s\tt".u`: 25,
	}
	for path, line := range want {
		if got[path] != line {
			t.Errorf("%s is at line %d, want %d", path, got[path], line)
		}
	}
	for path := range got {
		if _, known := want[path]; !known {
			t.Errorf("there is no %s", path)
		}
	}
	if _, err := toml.Decode(text, new(map[string]any)); err != nil {
		t.Errorf("the text of this test is no TOML: %v", err)
	}
}

var index = regexp.MustCompile(`\[[0-9]+\]`)

// FuzzLocate holds that no text makes it hang or panic, and that of every valid
// text each key that the library knows is found, on a line that is there.
func FuzzLocate(f *testing.F) {
	for _, seed := range []string{
		"a = 1", "[a]\nb.c = [1, [2, 'x']]", "[[a]]\n[a.b]\nc = {d = 1}", "a = \"\"\"x\\\"\"\"\"\"", "'a b'.\"c\" = '''\n'''",
		"a=[{b=[{c=1}]}]", "[", "a =", "\"", "a = [1,\n#]\n]", "[[a]]\n[[a.b]]\n[[a.b]]\nc=1\n[[a]]\n[[a.b]]\nd=1", "\r\n\ta = 1 \r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := locate(text)
		md, err := toml.Decode(text, new(map[string]any))
		if err != nil {
			return
		}
		found := map[string]bool{}
		for path, line := range lines {
			if line < 1 || line > 1+strings.Count(text, "\n") {
				t.Errorf("%s is at line %d of %q", path, line, text)
			}
			found[plain(path)] = true
		}
		for _, key := range md.Keys() {
			if !found[plain(key.String())] {
				t.Errorf("%s is not found in %q, only %v", key, text, lines)
			}
		}
	})
}

// plain takes the list indexes out of a path; keys that look like one do not matter here.
func plain(path string) string { return index.ReplaceAllString(path, "") }
