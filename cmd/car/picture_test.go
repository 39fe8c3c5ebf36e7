package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// U-TUI-5: a picture is attached where it is marked, or where a path that was dropped on
// the terminal is one; other words are words.
func TestPicturesIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	shot := filepath.Join(dir, "shot.png")
	if err := os.WriteFile(shot, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string][]string{
		"look at @shot.png please":     {shot},
		"look at @gone.PNG":            {filepath.Join(dir, "gone.PNG")},
		"what is shot.png":             nil,
		shot + " and '" + shot + "'":   {shot},
		"/nowhere/else.png":            nil,
		"@readme.md @a.go":             nil,
		"@~/x.webp":                    {"/home/ann/x.webp"},
		"mail me at ann@example.com":   nil,
		"@one.jpg\n@two.jpeg @one.jpg": {filepath.Join(dir, "one.jpg"), filepath.Join(dir, "two.jpeg")},
	} {
		if diff := cmp.Diff(want, picturesIn(text, dir, "/home/ann")); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
