package grepfiles

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Searching a whole text finds the same lines as matching line by line.
func TestLinesAreTheSameAsOneByOne(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`(\^|\$|a|b|B|k|K|ſ|\.|\\s|\\b|\[\^a\]|a\*|\(a\|b\)|\\A|\\z|x\+|\\n|\(\?s\)|abx|\(abx\)\+|\(\?i:bxa\)|aab\{2\}){1,5}`).Draw(t, "pattern")
		text := rapid.StringMatching(`(a|b|x|ab|A|B|s|k|abx|ABX|bxa|\x{212a}| |\n|\r\n){0,20}`).Draw(t, "text")
		fold := rapid.Bool().Draw(t, "fold")
		m, err := compile(input{Pattern: pattern, IgnoreCase: fold})
		if err != nil {
			return
		}
		var got, want []string
		m.lines([]byte(text), nil, func(start, end, _, number int) bool {
			got = append(got, fmt.Sprintf("%d:%s", number, text[start:end]))
			return true
		})
		flags := "(?m:"
		if fold {
			flags = "(?mi:"
		}
		re := regexp.MustCompile(flags + pattern + ")")
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			if line = strings.TrimSuffix(line, "\r"); text != "" && re.MatchString(line) {
				want = append(want, fmt.Sprintf("%d:%s", i+1, line))
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Fatalf("%q in %q: got %q, line by line %q", pattern, text, got, want)
		}
	})
}
