package main

import (
	"os"
	"path/filepath"
	"testing"
)

// T-FILE-19: the person's own ignore file is the one git itself would use.
func TestGlobalIgnore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files map[string]string
		vars  []string
		want  string
	}{
		"none":          {want: ""},
		"default":       {files: map[string]string{".config/git/ignore": "*.swp\n"}, want: "*.swp\n"},
		"named":         {files: map[string]string{".gitconfig": "[user]\n\tname = x\n[Core]\n\tExcludesFile = ~/mine ; why\n", "mine": "*.o\n", ".config/git/ignore": "no"}, want: "*.o\n"},
		"quoted":        {files: map[string]string{".gitconfig": "[core] excludesfile = \"~/my file\"\n", "my file": "*.q\n"}, want: "*.q\n"},
		"last one":      {files: map[string]string{".config/git/config": "[core]\nexcludesFile=~/a\n", ".gitconfig": "[core]\nexcludesFile=~/b\n", "a": "a", "b": "b"}, want: "b"},
		"other section": {files: map[string]string{".gitconfig": "[core \"x\"]\nexcludesFile=~/a\n", "a": "a"}, want: ""},
		"xdg":           {files: map[string]string{"x/git/ignore": "*.x\n"}, vars: []string{"XDG_CONFIG_HOME=$HOME/x"}, want: "*.x\n"},
		"own config":    {files: map[string]string{"g": "[core]\nexcludesFile=~/a\n", "a": "a", ".gitconfig": "[core]\nexcludesFile=~/b\n", "b": "b"}, vars: []string{"GIT_CONFIG_GLOBAL=$HOME/g"}, want: "a"},
		"relative":      {files: map[string]string{".gitconfig": "[core]\nexcludesFile=a\n", "a": "a"}, want: ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for path, text := range c.files {
				path = filepath.Join(home, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			env := environment{home: home}
			for _, kv := range c.vars {
				env.vars = append(env.vars, os.Expand(kv, func(string) string { return home }))
			}
			if got := (&house{app: &app{env: env}}).globalIgnore(); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
