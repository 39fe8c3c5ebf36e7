//go:build unix

package substrate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"car/internal/engine/tool"
	"car/internal/tools/substrate/confine"
)

// place for a test: a workspace, a folder outside of it, and a substrate over it.
type bench struct {
	tool.Substrate
	root, outside, base string
}

// open opens a substrate over a fresh workspace; change may alter its Config.
func open(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{root: filepath.Join(dir, "root"), outside: filepath.Join(dir, "outside"), base: filepath.Join(dir, "tmp")}
	for _, d := range []string{b.root, b.outside, b.base} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c := Config{
		Root: b.root, ScratchBase: b.base, UID: "1000", Session: "s1", Home: filepath.Join(dir, "home"),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "LANG=C.UTF-8"}, Now: time.Now,
	}
	if change != nil {
		change(&c)
	}
	b.Substrate, err = Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// put writes a file below the workspace, making its folders.
func (b *bench) put(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(b.root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func (b *bench) link(t *testing.T, target, name string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(b.root, name)); err != nil {
		t.Fatal(err)
	}
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == confine.Word {
		if err := confine.Main(); err != nil {
			panic(err)
		}
		return
	}
	if helper(os.Args) {
		return
	}
	goleak.VerifyTestMain(m)
}

func TestConfigNamesTheBadField(t *testing.T) {
	t.Parallel()
	good := Config{Root: "/r", ScratchBase: "/tmp", UID: "1", Session: "s", Now: time.Now}
	for field, spoil := range map[string]func(*Config){
		"Root":        func(c *Config) { c.Root = "relative" },
		"ScratchBase": func(c *Config) { c.ScratchBase = "" },
		"UID":         func(c *Config) { c.UID = "../x" },
		"Session":     func(c *Config) { c.Session = "a/b" },
		"Dialect":     func(c *Config) { c.Dialect = "fish" },
		"Now":         func(c *Config) { c.Now = nil },
	} {
		c := good
		spoil(&c)
		if _, err := Open(c); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("bad %s: got %v", field, err)
		}
	}
}

// P-GUARD-7, T-SUB-1: what is not enforced is said.
func TestDescribeSaysWhatIsNotConfined(t *testing.T) {
	t.Parallel()
	b := open(t, nil)
	d := b.Describe()
	if b.Name() != "local" || d.Root != b.root || d.Confinement != "none" || len(d.Limits) == 0 || !strings.Contains(d.Limits[0], "not confined") {
		t.Errorf("got %q %+v", b.Name(), d)
	}
}
