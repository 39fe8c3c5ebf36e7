package policy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// osFacts is the file system as tool.FS shows it.
type osFacts struct{}

func (osFacts) Lstat(p string) (tool.Info, error) {
	fi, err := os.Lstat(p)
	if err != nil {
		return tool.Info{}, err
	}
	info := tool.Info{Path: p, Size: fi.Size(), Mode: fi.Mode(), ModTime: fi.ModTime(), Links: 1}
	if st, ok := fi.Sys().(*syscall.Stat_t); ok {
		info.Links, info.Key = uint64(st.Nlink), fmt.Sprint(st.Dev, ":", st.Ino)
	}
	return info, nil
}
func (osFacts) Readlink(p string) (string, error)       { return os.Readlink(p) }
func (osFacts) ReadDir(p string) ([]fs.DirEntry, error) { return os.ReadDir(p) }
func (f osFacts) Open(p string) (tool.File, error) {
	file, err := os.Open(p)
	if err != nil {
		return nil, err
	}
	info, err := f.Lstat(p)
	return openFile{file, info}, err
}

type openFile struct {
	*os.File
	info tool.Info
}

func (f openFile) Info() tool.Info { return f.info }

type corpusRow struct {
	ID, Class, Group, Tier, Verdict, Match, Ideal, Decision, Why string
	Input                                                        struct {
		Tool   string
		Params map[string]any
	}
	Setup []setupFact
}

type setupFact struct {
	Kind, Path, Content, Target, Name, Host, When string
	Value                                         any
	Chain, Addresses                              []string
	To                                            *setupFact
}

// layout is where a row plays: root, home and a folder outside both.
type layout struct{ root, home, out, scratch, car string }

func newLayout(t testing.TB, rootBelowHome bool) layout {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l := layout{home: base + "/home/dev", out: base + "/elsewhere", scratch: base + "/tmp/car-1000/s1", root: base + "/code/project"}
	if rootBelowHome {
		l.root = l.home + "/project"
	}
	l.car = l.home + "/.car"
	for _, d := range []string{l.root, l.home, l.scratch} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return l
}

func (l layout) fill(s string) string {
	return strings.NewReplacer("{{+}}", "", "{{ROOT}}", l.root, "{{HOME}}", l.home, "{{OUT}}", l.out).Replace(s)
}

func (l layout) config() Config {
	return Config{Root: l.root, Home: l.home, Scratch: l.scratch, CarHome: l.car, ReadOutside: Ask, Posture: Balanced}
}

// readCorpus returns the lines of a corpus file, unfilled.
func readCorpus(t testing.TB, name string) []string {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "corpus", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var lines []string
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		lines = append(lines, sc.Text())
	}
	if err := sc.Err(); err != nil || len(lines) == 0 {
		t.Fatalf("corpus %s: %d lines, %v", name, len(lines), err)
	}
	return lines
}

func decodeRow(t testing.TB, line string, l layout) corpusRow {
	t.Helper()
	var r corpusRow
	if err := json.Unmarshal([]byte(l.fill(line)), &r); err != nil {
		t.Fatal(err)
	}
	if r.Input.Tool == "edit_file" {
		r.Input.Params["old_text"], r.Input.Params["new_text"] = r.Input.Params["old"], r.Input.Params["new"]
	}
	return r
}

// apply makes the facts that a row needs and notes what is no file.
func (l layout) apply(t testing.TB, cfg *Config, facts []setupFact) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range facts {
		p := f.Path
		if !filepath.IsAbs(p) {
			p = filepath.Join(l.root, p)
		}
		switch f.Kind {
		case "option":
			if f.Name == "read_clamp" && f.Value == true {
				cfg.ReadOutside = Deny
			}
			continue
		case "swap", "redirects", "resolves":
			continue
		}
		must(os.MkdirAll(filepath.Dir(p), 0o755))
		target := f.Target
		switch f.Kind {
		case "file":
			must(os.WriteFile(p, []byte(f.Content), 0o644))
		case "dir":
			must(os.MkdirAll(p, 0o755))
		case "symlink":
			must(os.Symlink(target, p))
		case "hardlink":
			if !filepath.IsAbs(target) {
				target = filepath.Join(l.root, target)
			}
			must(os.Link(target, p))
		case "fifo":
			must(syscall.Mkfifo(p, 0o644))
		case "socket":
			fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
			must(err)
			must(syscall.Bind(fd, &syscall.SockaddrUnix{Name: p}))
			must(syscall.Close(fd))
		default:
			t.Fatalf("unknown fact %q", f.Kind)
		}
	}
}

// judgeRow judges a row as the runtime would: once before, and again on what a
// swap, a redirect or a look-up brings.
func (l layout) judgeRow(t testing.TB, r corpusRow, facts Facts) Judgement {
	t.Helper()
	cfg := l.config()
	if len(r.Setup) > 0 {
		facts = osFacts{}
	}
	cfg.Facts = facts
	l.apply(t, &cfg, r.Setup)
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a := ir.Action{ID: "a1", Type: ir.ToolCall, Tool: r.Input.Tool, Parameters: r.Input.Params}
	j := p.Judge(a, tool.Effects{})
	from, _ := r.Input.Params["url"].(string)
	for _, f := range r.Setup {
		switch f.Kind {
		case "swap":
			if err := os.RemoveAll(filepath.Join(l.root, f.Path)); err != nil {
				t.Fatal(err)
			}
			l.apply(t, &cfg, []setupFact{{Kind: f.To.Kind, Path: f.Path, Target: f.To.Target}})
			if again := p.Judge(a, tool.Effects{}); again.Verdict < j.Verdict {
				j = again
			}
		case "redirects":
			for _, to := range f.Chain {
				if v, _ := p.Redirect(from, to); v < j.Verdict {
					j.Verdict = v
				}
				from = to
			}
		case "resolves":
			for _, addr := range f.Addresses {
				if v, _ := p.Destination(f.Host, netip.MustParseAddr(addr)); v < j.Verdict {
					j.Verdict = v
				}
			}
		}
	}
	return j
}

var _ io.Reader = openFile{}
