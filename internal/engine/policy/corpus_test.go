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
	"sort"
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
	l := layout{home: base + "/home/dev", out: base + "/elsewhere", scratch: base + "/tmp/car-1000/s1", root: base + "/work/project"}
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

// agrees compares a judgement with a row; ideal is what the row wishes for.
func agrees(r corpusRow, j Judgement, ideal bool) bool {
	var want Verdict
	if err := want.UnmarshalText([]byte(r.Verdict)); err != nil {
		return false
	}
	if ideal {
		if err := want.UnmarshalText([]byte(r.Ideal)); err != nil {
			return false
		}
		return j.Verdict <= want
	}
	var tier ir.Tier
	if err := tier.UnmarshalText([]byte(r.Tier)); err != nil {
		return false
	}
	if want == Deny {
		return j.Verdict == Deny
	}
	if r.Match == "at_least" {
		return j.Verdict <= want && j.Tier >= tier
	}
	return j.Verdict == want && j.Tier == tier
}

// tally counts rows by class.
type tally struct{ good, all, ideal, ideals int }

func runCorpus(t *testing.T, file string, rootBelowHome bool, facts Facts) {
	classes := map[string]*tally{}
	for _, line := range readCorpus(t, file) {
		l := newLayout(t, rootBelowHome)
		r := decodeRow(t, line, l)
		c := classes[r.Class]
		if c == nil {
			c = &tally{}
			classes[r.Class] = c
		}
		j := l.judgeRow(t, r, facts)
		c.all++
		if agrees(r, j, false) {
			c.good++
		} else {
			t.Errorf("%s %s %s %q: want %s %s %s, got %s %s: %s", r.ID, r.Class, r.Input.Tool, brief(r.Input.Params), r.Verdict, r.Tier, r.Match, j.Verdict, j.Tier, j.Message())
		}
		if r.Ideal != "" {
			c.ideals++
			if agrees(r, j, true) {
				c.ideal++
			} else {
				t.Logf("ideal missed: %s %s %q: %s", r.ID, r.Class, brief(r.Input.Params), j.Message())
			}
		}
	}
	names := make([]string, 0, len(classes))
	for n := range classes {
		names = append(names, n)
	}
	sort.Strings(names)
	var sum tally
	for _, n := range names {
		c := classes[n]
		sum.good, sum.all, sum.ideal, sum.ideals = sum.good+c.good, sum.all+c.all, sum.ideal+c.ideal, sum.ideals+c.ideals
		if t.Failed() {
			t.Logf("%-20s %3d/%3d  ideal %2d/%2d", n, c.good, c.all, c.ideal, c.ideals)
		}
	}
	t.Logf("%s: %d of %d rows, %d of %d ideal", file, sum.good, sum.all, sum.ideal, sum.ideals)
}

func brief(params map[string]any) string {
	for _, k := range []string{"command", "url", "path"} {
		if s, ok := params[k].(string); ok {
			if len(s) > 160 {
				return s[:100] + "…" + s[len(s)-50:]
			}
			return s
		}
	}
	return ""
}

// G-TIER-5, D-13: every row of the corpus, with files that exist, and by text
// alone where a row needs no facts.
func TestCorpusCommands(t *testing.T) {
	t.Parallel()
	runCorpus(t, "commands.jsonl", false, osFacts{})
}

func TestCorpusCommandsByText(t *testing.T) {
	t.Parallel()
	runCorpus(t, "commands.jsonl", true, nil)
}

func TestCorpusHTTP(t *testing.T) {
	t.Parallel()
	runCorpus(t, "http.jsonl", false, nil)
}

var _ io.Reader = openFile{}
