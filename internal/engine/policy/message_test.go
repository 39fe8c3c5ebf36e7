package policy

import (
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
)

// G-SHELL-4, G-POL-3: a refusal says what and which rule in at most three lines,
// and never a secret value.
func TestMessages(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"commands.jsonl", "http.jsonl"} {
		shared := newLayout(t, false)
		for _, line := range readCorpus(t, file) {
			l := shared
			r := decodeRow(t, line, l)
			if r.Setup != nil { // what it sets up must not reach the next row
				l = newLayout(t, false)
				r = decodeRow(t, line, l)
			}
			j := l.judgeRow(t, r, nil)
			if j.Verdict == Allow || len(j.Reasons) == 0 {
				continue
			}
			m := j.Message()
			if n := strings.Count(strings.TrimSpace(m), "\n") + 1; n > 3 || len(m) > 600 {
				t.Errorf("%s: %d lines, %d bytes: %q", r.ID, n, len(m), m)
			}
			if j.Reasons[0].Rule == "" {
				t.Errorf("%s: no rule named: %q", r.ID, m)
			}
			for _, secret := range []string{"FAKE", "fake-not-real", "RkFL", "Z2hw"} {
				for _, reason := range j.Reasons {
					if strings.Contains(reason.Text+reason.WayOut, secret) {
						t.Errorf("%s: the reason holds a secret: %q", r.ID, reason.Text)
					}
				}
			}
			if j.Verdict == Deny && len(j.Violations) == 0 && r.Setup == nil {
				t.Errorf("%s: a refusal without a violation", r.ID)
			}
		}
	}
}

// Denials that have a lawful way say it.
func TestWayOut(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{}, nil)
	for command, want := range map[string]string{
		"echo x > /tmp/x": "$TMPDIR", "git push -f": "--force-with-lease", "cat .env": ".env.example", "env": "printenv NAME", "echo x > .git/hooks/a": "git config",
	} {
		if m := p.Judge(shellAction("a", command), tool.Effects{}).Message(); !strings.Contains(m, want) {
			t.Errorf("%q: no way out in %q", command, m)
		}
	}
}

// T-WEB-2, D23: every address that is dialled and every redirect is judged again.
func TestDestinations(t *testing.T) {
	t.Parallel()
	p := withRules(t, Rules{}, nil)
	for _, c := range []struct {
		host, addr string
		want       Verdict
	}{
		{"example.com", "93.184.216.34", Allow}, {"example.com", "2606:2800:220:1::1", Allow}, {"localhost", "127.0.0.1", Allow}, {"localhost", "::1", Allow}, {"printer.local", "10.0.0.9", Allow},
		{"example.com", "127.0.0.1", Deny}, {"example.com", "10.1.2.3", Deny}, {"example.com", "::ffff:10.1.2.3", Deny}, {"example.com", "64:ff9b::a00:1", Deny}, {"example.com", "169.254.169.254", Deny},
		{"localhost", "169.254.169.254", Deny}, {"example.com", "0.0.0.0", Deny}, {"example.com", "fe80::1", Deny}, {"example.com", "fd00:ec2::254", Deny}, {"example.com", "2002:7f00:1::", Deny},
	} {
		if v, why := p.Destination(c.host, netip.MustParseAddr(c.addr)); v != c.want || (v == Deny) != (why != "") {
			t.Errorf("%s at %s: %s %q, want %s", c.host, c.addr, v, why, c.want)
		}
	}
	for _, c := range []struct {
		from, to string
		want     Verdict
	}{
		{"http://example.com/", "https://example.com/", Allow}, {"https://example.com/", "http://example.com/", Deny}, {"https://example.com/", "http://localhost/", Deny}, {"https://example.com/", "https://10.0.0.1/", Deny},
		{"http://localhost:1/", "http://localhost:2/", Allow}, {"https://a.example/", "ftp://b.example/", Deny}, {"https://a.example/", "https://b.example/", Allow}, {"https://a.example/", "https://2130706433/", Deny},
	} {
		if v, why := p.Redirect(c.from, c.to); v != c.want {
			t.Errorf("%s to %s: %s %q, want %s", c.from, c.to, v, why, c.want)
		}
	}
}

// T-FILE-1, T-FILE-3..6, D27, D34: literal paths of file tools.
func TestFileTools(t *testing.T) {
	t.Parallel()
	l := newLayout(t, false)
	cfg := l.config()
	cfg.Facts = osFacts{}
	l.apply(t, &cfg, []setupFact{
		{Kind: "file", Path: "a.txt"}, {Kind: "file", Path: l.out + "/x"}, {Kind: "symlink", Path: "out", Target: l.out}, {Kind: "file", Path: l.home + "/.ssh/id_rsa"},
		{Kind: "hardlink", Path: "plain", Target: l.home + "/.ssh/id_rsa"}, {Kind: "file", Path: "certs/server.pem"}, {Kind: "symlink", Path: "loop", Target: "loop"},
	})
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tool, path string
		want       Verdict
	}{
		{"read_file", "a.txt", Allow}, {"read_file", "", Deny}, {"read_file", "~/x", Deny}, {"read_file", "https://example.com/x", Deny}, {"read_file", "a\x00b", Deny},
		{"read_file", "out/x", Ask}, {"read_file", "plain", Deny}, {"read_file", "certs/server.pem", Ask}, {"read_file", ".ENV.Local. ", Deny}, {"read_file", "loop", Allow},
		{"read_file", l.car + "/car.db", Deny}, {"read_file", l.scratch + "/spool", Allow}, {"read_file", "/dev/null", Deny}, {"read_file", "/proc/self/cwd/a.txt", Deny}, {"read_file", "-rf", Allow},
		{"write_file", "b.txt", Ask}, {"write_file", "out/y", Deny}, {"write_file", l.car + "/config.toml", Deny}, {"write_file", ".Car/x", Deny}, {"write_file", "sub/.git/hooks/x", Deny},
		{"write_file", ".git/info/exclude", Ask}, {"write_file", l.scratch + "/x", Ask}, {"write_file", "/tmp/x", Deny}, {"write_file", "plain", Ask}, {"write_file", "GIT~1/config", Ask},
		{"edit_file", "a.txt", Ask}, {"edit_file", "plain", Deny}, {"list_dir", ".", Allow}, {"list_dir", "", Allow}, {"list_dir", "..", Ask}, {"list_dir", l.home + "/.ssh", Deny},
		{"grep_files", ".", Allow}, {"grep_files", "plain", Deny}, {"find_files", ".", Allow},
	} {
		j := p.Judge(ir.Action{ID: "a", Type: ir.ToolCall, Tool: c.tool, Parameters: map[string]any{"path": c.path, "pattern": "*"}}, tool.Effects{})
		if j.Verdict != c.want {
			t.Errorf("%s %q: %s, want %s: %s", c.tool, c.path, j.Verdict, c.want, j.Message())
		}
	}
	cfg.ReadOutside, cfg.ReadRoots = Allow, []string{filepath.Join(l.home, "go")}
	open, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	cfg.ReadOutside = Deny
	closed, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	read := func(p *Policy, name string) Verdict {
		return p.Judge(ir.Action{ID: "a", Type: ir.ToolCall, Tool: "read_file", Parameters: map[string]any{"path": name}}, tool.Effects{}).Verdict
	}
	if read(open, "out/x") != Allow || read(open, l.home+"/.ssh/id_rsa") != Deny || read(closed, "out/x") != Deny || read(closed, l.home+"/go/pkg/x.go") != Allow {
		t.Error("read_outside and read_roots do not do what they say")
	}
}

// D25, B001: with facts, settings of the repository and files at stake count.
func TestRepositorySettings(t *testing.T) {
	t.Parallel()
	l := newLayout(t, false)
	cfg := l.config()
	cfg.Facts = osFacts{}
	l.apply(t, &cfg, []setupFact{{Kind: "file", Path: ".git/config", Content: "[core]\n\tbare = false\n[filter \"lfs\"]\n\tclean = git-lfs clean -- %f\n[user]\n\tname = x\n[alias]\n\tco = checkout\n"}})
	p, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	verdicts(t, p, map[string]Verdict{"git status": Allow, "git diff": Allow, "git -C . log": Allow})
	l.apply(t, &cfg, []setupFact{{Kind: "file", Path: ".git/config", Content: "[core]\n\tfsmonitor = ./x\n"}})
	verdicts(t, p, map[string]Verdict{"git status": Ask, "git diff": Ask, "ls": Allow})
}
