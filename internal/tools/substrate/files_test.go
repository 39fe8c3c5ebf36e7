//go:build unix

package substrate

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"car/internal/engine/tool"
)

func read(fsys tool.FS, path string) (string, tool.Info, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return "", tool.Info{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	return string(data), f.Info(), err
}

func faultText(err error) string {
	var f *tool.Fault
	if errors.As(err, &f) {
		return f.Text
	}
	return ""
}

// T-FILE-1, D34: paths are literal, and what is surely a mistake is refused with a hint.
func TestSpellingsThatAreMistakes(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	for path, hint := range map[string]string{
		"": "empty", "a\x00b": "NUL", "~/x": "not expanded", "~": "not expanded",
		"file:///etc/hosts": "URL", "https://x/y": "URL", "Git+SSH://x": "URL",
	} {
		_, _, err := read(b.FS(), path)
		if !strings.Contains(faultText(err), hint) {
			t.Errorf("%q: got %v, want %q", path, err, hint)
		}
	}
	for _, name := range []string{"~x", "$HOME/n.txt", "a%2e.txt", "-rf", "://x", "1a://x", "docs/..hidden", "with\nnewline", "ïmoji-🎉"} {
		b.put(t, name, "here")
		if got, _, err := read(b.FS(), name); got != "here" || err != nil {
			t.Errorf("%q: got %q, %v; want the literal file", name, got, err)
		}
	}
}

// T-FILE-2: a path is what it leads to, inside or out, however it is spelled.
func TestWherePathsLead(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	b.put(t, "src/main.go", "package main")
	os.WriteFile(filepath.Join(b.outside, "x.txt"), []byte("far"), 0o644)
	os.Mkdir(b.root+"-backup", 0o755)
	os.WriteFile(b.root+"-backup/x.txt", []byte("sibling"), 0o644)
	b.link(t, "src", "cur")
	b.link(t, filepath.Join(b.root, "src"), "abs")
	b.link(t, b.outside, "out")
	b.link(t, "../outside/x.txt", "leak.txt")
	b.link(t, "../root/src/main.go", "round.go")
	os.Symlink(b.root, filepath.Join(b.outside, "alias"))
	for path, want := range map[string]struct {
		path    string
		outside bool
	}{
		"src/main.go":                         {"src/main.go", false},
		"./src//main.go":                      {"src/main.go", false},
		"src/../src/main.go":                  {"src/main.go", false},
		"cur/main.go":                         {"src/main.go", false},
		"cur/../src/main.go":                  {"src/main.go", false},
		"abs/main.go":                         {"src/main.go", false},
		"round.go":                            {"src/main.go", false},
		b.root + "/src/main.go":               {"src/main.go", false},
		b.outside + "/alias/src/main.go":      {"src/main.go", false},
		"../root/src/main.go":                 {"src/main.go", false},
		"out/x.txt":                           {b.outside + "/x.txt", true},
		"leak.txt":                            {b.outside + "/x.txt", true},
		"../outside/x.txt":                    {b.outside + "/x.txt", true},
		b.root + "/../outside/x.txt":          {b.outside + "/x.txt", true},
		b.root + "-backup/x.txt":              {b.root + "-backup/x.txt", true},
		"src/../../outside/x.txt":             {b.outside + "/x.txt", true},
		b.outside + "/alias/../outside/x.txt": {b.outside + "/x.txt", true},
	} {
		_, info, err := read(b.FS(), path)
		if err != nil || info.Path != want.path || info.Outside != want.outside {
			t.Errorf("%q: got %q outside=%v %v, want %q outside=%v", path, info.Path, info.Outside, err, want.path, want.outside)
		}
		stat, err := b.FS().Stat(path)
		if err != nil || stat.Path != want.path || stat.Key != info.Key {
			t.Errorf("stat %q: got %q %q %v", path, stat.Path, stat.Key, err)
		}
	}
	if _, _, err := read(b.FS(), "src/main.go/"); err == nil {
		t.Error("a trailing slash after a file was accepted")
	}
	if _, err := b.FS().Stat("src/main.go/x"); faultText(err) == "" {
		t.Errorf("a file as a folder: got %v", err)
	}
}

// B025: a workspace that is itself reached through a link works.
func TestRootBehindALink(t *testing.T) {
	t.Parallel()
	var alias string
	b := open(t, func(c *Config) {
		alias = c.Root + "-alias"
		if err := os.Symlink(c.Root, alias); err != nil {
			t.Fatal(err)
		}
		c.Root = alias
	})
	b.put(t, "a.txt", "a")
	for _, path := range []string{"a.txt", alias + "/a.txt", b.root + "/a.txt"} {
		if got, info, err := read(b.FS(), path); got != "a" || info.Outside || info.Path != "a.txt" {
			t.Errorf("%q: got %q %+v %v", path, got, info, err)
		}
	}
}

// T-FILE-6: nothing but a regular file is opened, and nothing blocks.
func TestSpecialFilesAreRefusedBeforeTheyBlock(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	if err := syscall.Mkfifo(filepath.Join(b.root, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.link(t, "/dev/stdin", "in")
	b.link(t, "/proc/self/fd", "fds")
	b.link(t, "loop-b", "loop-a")
	b.link(t, "loop-a", "loop-b")
	for path, word := range map[string]string{
		"pipe": "FIFO", ".": "folder", "in": "device", "/dev/zero": "device", "/dev/fd/0": "device", "fds/0": "device",
		"/proc/self/root/etc/passwd": "device", "/proc/self/cwd/go.mod": "device", "/proc/self/environ": "device", "loop-a": "loop",
	} {
		if _, _, err := read(b.FS(), path); !strings.Contains(faultText(err), word) {
			t.Errorf("open %q: got %v, want %q", path, err, word)
		}
	}
	if _, err := b.FS().Replace("pipe", nil, 0, accept); !strings.Contains(faultText(err), "FIFO") {
		t.Errorf("write to a FIFO: got %v", err)
	}
	if info, err := b.FS().Stat("pipe"); err != nil || info.Mode&fs.ModeNamedPipe == 0 {
		t.Errorf("stat of a FIFO: %+v %v", info, err)
	}
	if got, _, err := read(b.FS(), "/proc/version"); got == "" || err != nil {
		t.Errorf("an ordinary file of /proc: %q %v", got, err)
	}
}

// T-FILE-7: every name of a file has one key, and an atomic save keeps it.
func TestKeyIsTheFile(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	path := b.put(t, "f", "one")
	b.link(t, "f", "link")
	key := func(p string) string {
		info, err := b.FS().Stat(p)
		if err != nil {
			t.Fatal(err)
		}
		return info.Key
	}
	first := key("f")
	if key("./f") != first || key("link") != first || key(path) != first {
		t.Error("names of one file have different keys")
	}
	b.put(t, "new", "two")
	if err := os.Rename(filepath.Join(b.root, "new"), path); err != nil {
		t.Fatal(err)
	}
	if key("f") != first {
		t.Error("an atomic save by an editor changed the key")
	}
	if err := os.Link(path, filepath.Join(b.root, "second")); err != nil {
		t.Fatal(err)
	}
	if key("f") != key("second") {
		t.Error("hard links of one file have different keys")
	}
}

// T-FILE-5, D04, D27: secret files are known by every name they have.
func TestSecretFiles(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	secret := b.put(t, "deep/.env", "A=1")
	b.put(t, "plain.txt", "x")
	b.link(t, "deep/.env", "settings.txt")
	b.link(t, "plain.txt", ".env.local")
	os.Link(secret, filepath.Join(b.root, "deep", "copy.txt"))
	os.Link(filepath.Join(b.root, "plain.txt"), filepath.Join(b.root, "plain-2.txt"))
	for path, want := range map[string]bool{
		"deep/.env": true, "settings.txt": true, "deep/copy.txt": true, ".env.local": true, "plain.txt": false, "plain-2.txt": false,
	} {
		if _, info, err := read(b.FS(), path); err != nil || info.Secret != want {
			t.Errorf("%q: secret=%v %v, want %v", path, info.Secret, err, want)
		}
	}
	os.Link(secret, filepath.Join(b.root, "deep", "later.txt"))
	if _, info, _ := read(b.FS(), "deep/later.txt"); !info.Secret {
		t.Error("a second name made later is not known as secret")
	}
}

func TestSecretNames(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		".env": true, "a/.ENV": true, ".env.": true, ".env ": true, ".env.production": true, ".env.example": false, ".env.Sample": false,
		".env.dist": false, ".envrc": false, "environment.md": false, "src/.environment.ts": false,
		"/home/x/.ssh/config": true, "/home/x/.SSH/id_rsa": true, "/home/x/.ssh/id_ed25519.pub": false, "/home/x/.gnupg/x": true,
		"id_rsa": true, "keys/id_ed25519": true, "id_ecdsa_sk": true, "docs/ssh/id_rsa.md": false, "id_map.go": false, "id_rsa.pub": false,
		".netrc": true, ".npmrc": true, ".pgpass": true, "/h/.aws/credentials": true, "/h/.kube/config": true, "kube/config": false,
		"/h/.docker/config.json": true, "config.json": false, ".git-credentials": true,
	} {
		if got := secretPath(path); got != want {
			t.Errorf("%q: got %v, want %v", path, got, want)
		}
	}
}

func TestReadDirIsInByteOrder(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	for _, n := range []string{"b", "a", "B", "a.b", "a/x"} {
		if n != "a" {
			b.put(t, "d/"+n, "")
		}
	}
	b.link(t, "../outside", "d/out")
	os.WriteFile(filepath.Join(b.outside, "o"), nil, 0o644)
	names := func(path string) string {
		entries, err := b.FS().ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		var s []string
		for _, e := range entries {
			s = append(s, e.Name())
		}
		return strings.Join(s, " ")
	}
	if got := names("d"); got != "B a a.b b out" {
		t.Errorf("got %q", got)
	}
	if got := names(b.outside); got != "o" {
		t.Errorf("outside: got %q", got)
	}
	if _, err := b.FS().ReadDir("d/b"); faultText(err) == "" {
		t.Errorf("a file listed: %v", err)
	}
	if _, err := b.FS().ReadDir("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	if target, err := b.FS().Readlink("d/out"); err != nil || target != "../outside" {
		t.Errorf("readlink: %q %v", target, err)
	}
	if info, err := b.FS().Lstat("d/out"); err != nil || info.Mode&fs.ModeSymlink == 0 || info.Path != "d/out" {
		t.Errorf("lstat: %+v %v", info, err)
	}
}

// D-4, D-20: the scratch folder counts as inside, for reading and writing.
func TestScratchIsInside(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	path := b.Describe().Scratch + "/notes/n.txt"
	info, err := b.FS().Replace(path, []byte("n"), 0, accept)
	if err != nil || info.Outside || info.Path != path {
		t.Fatalf("write: %+v %v", info, err)
	}
	if got, info, err := read(b.FS(), path); got != "n" || info.Outside {
		t.Errorf("read: %q %+v %v", got, info, err)
	}
	w, spool, err := b.Spool("shell")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(w, "all of it")
	w.Close()
	if got, info, err := read(b.FS(), spool); got != "all of it" || info.Outside || info.Mode.Perm() != 0o600 {
		t.Errorf("spool: %q %+v %v", got, info, err)
	}
}
