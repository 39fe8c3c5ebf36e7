package substrate

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"car/internal/engine/tool"
	"car/internal/tools/substrate/confine"
)

// held opens a substrate that confines, over folders outside of the machine's
// temporary ones; the home holds secrets, and car's own folder lies in it.
func held(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	if confine.ABI() < 3 {
		b := open(t, func(c *Config) { c.Confine = &Confinement{Helper: []string{os.Args[0], os.Args[0], confine.Word}} })
		if d := b.Describe(); d.Confinement != "none" || !strings.Contains(d.Limits[0], "Landlock level") {
			t.Errorf("without Landlock: got %+v", d)
		}
		t.Skip("this kernel has no Landlock: what is promised there was checked")
	}
	b := open(t, func(c *Config) {
		for name, text := range map[string]string{".car/car.db": "state-of-car", ".ssh/id_ed25519": "key-of-person", ".bashrc": "", ".gitconfig": "[user]\nname = A\nemail = a@example.org\n"} {
			path := filepath.Join(c.Home, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c.Confine = &Confinement{Helper: []string{"/proc/self/exe", os.Args[0], confine.Word}, CarHome: filepath.Join(c.Home, ".car")}
		if change != nil {
			change(c)
		}
	})
	if b.Name() != "sandbox" {
		t.Fatalf("not confined: %+v", b.Describe())
	}
	return b
}

func (b *bench) home() string { return filepath.Join(filepath.Dir(b.root), "home") }

// repository makes the workspace a repository, before the first command.
func (b *bench) repository(t *testing.T) {
	t.Helper()
	cmd := exec.Command("git", "init", "-q", b.root)
	cmd.Env = append(os.Environ(), "HOME="+b.home())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b.put(t, ".git/hooks/keep", "")
	b.put(t, ".car/policies/own.toml", "rules")
}

// namespaces reports what this machine gave; without, less is promised and said.
func (b *bench) namespaces() bool { return b.Substrate.(*local).jail.namespaces }

// Issue 4, P-GUARD-7, T-SUB: each way out ends at the wall, whatever the words are.
func TestConfinedCommandsCannot(t *testing.T) {
	t.Parallel()
	b := held(t, nil)
	b.repository(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	sleeper := exec.Command("sleep", "300")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { sleeper.Process.Kill(); sleeper.Wait() }()
	me, other := os.Getpid(), sleeper.Process.Pid
	abi := confine.ABI()
	for name, c := range map[string]struct {
		text string
		when bool
	}{
		"read car's folder":          {"cat " + b.home() + "/.car/car.db", true},
		"list car's folder":          {"ls " + b.home() + "/.car", true},
		"read a key":                 {"cat " + b.home() + "/.ssh/id_ed25519", true},
		"read by a link":             {"ln -s " + b.home() + "/.ssh/id_ed25519 l && cat l", true},
		"take a second name":         {"ln " + b.home() + "/.ssh/id_ed25519 hard && cat hard", true},
		"write outside":              {"echo x > " + b.outside + "/f", true},
		"write outside by a link":    {"ln -s " + b.outside + " out; echo x > out/f", true},
		"write a shell's start file": {"echo evil >> " + b.home() + "/.bashrc", true},
		"write outside by /proc":     {"exec 5<" + b.root + "; echo x > /proc/self/fd/5/../outside/f", true},
		"write system files":         {"echo x > /etc/car-test; rm /etc/car-test", true},
		"write a hook":               {"echo evil > .git/hooks/pre-commit", b.namespaces()},
		"write the settings of git":  {"git config core.hooksPath evil", b.namespaces()},
		"move the repository away":   {"mv .git g", b.namespaces()},
		"write car's rules":          {"echo x > .car/policies/own.toml", b.namespaces()},
		"move car's rules away":      {"mv .car gone", b.namespaces()},
		"reach a host's loopback":    {fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d", port), true},
		"reach an address":           {"exec 3<>/dev/udp/192.0.2.1/53 && echo x >&3", true},
		"signal car":                 {fmt.Sprintf("kill -0 %d", me), abi >= 6},
		"end another process":        {fmt.Sprintf("kill -9 %d", other), abi >= 6},
		"end another from a session": {fmt.Sprintf("setsid -w sh -c 'kill -9 %d'", other), abi >= 6},
		"read car's memory":          {fmt.Sprintf("head -c1 /proc/%d/mem", me), true},
		"write car's memory":         {fmt.Sprintf("echo x > /proc/%d/mem", me), true},
		"read car's environment":     {fmt.Sprintf("cat /proc/%d/environ", me), true},
		"read by car's root":         {fmt.Sprintf("cat /proc/%d/root%s/.car/car.db", me, b.home()), true},
		"read by car's files":        {fmt.Sprintf("cat /proc/%d/fd/*", me), true},
		"make a namespace":           {"unshare -Ur true", true},
		"mount":                      {"mount -t tmpfs none .", true},
		"unmount what is frozen":     {"umount .git/hooks", true},
		"become root":                {"[ $(id -u) != 0 ] && sudo -n true", true},
	} {
		if !c.when {
			continue
		}
		out, exit := b.sh(t, c.text, 20*time.Second)
		if exit.Code == 0 || strings.Contains(out, "state-of-car") || strings.Contains(out, "key-of-person") {
			t.Errorf("%s: %s went through: %+v %s", name, c.text, exit, out)
		}
	}
	if !running(other) {
		t.Error("a command ended a process that is none of its own")
	}
	if names, err := os.ReadDir(b.outside); err != nil || len(names) > 0 {
		t.Errorf("outside the root: %v %v", names, err)
	}
}

// D-35, issue 4: what work needs goes on as ever.
func TestConfinedCommandsStillWork(t *testing.T) {
	t.Parallel()
	b := held(t, func(c *Config) {
		cache, err := exec.Command("go", "env", "GOCACHE").Output()
		if err != nil {
			t.Fatal(err)
		}
		c.Env = append(c.Env, "GOCACHE="+strings.TrimSpace(string(cache)), "GOFLAGS=-mod=mod", "GOTOOLCHAIN=local", "GOPROXY=off")
	})
	b.repository(t)
	b.put(t, "go.mod", "module x\n\ngo 1.26\n")
	b.put(t, "x_test.go", "package x\n\nimport (\n\t\"net/http\"\n\t\"net/http/httptest\"\n\t\"testing\"\n)\n\nfunc TestX(t *testing.T) {\n\ts := httptest.NewServer(nil)\n\tdefer s.Close()\n\tif _, err := http.Get(s.URL); err != nil {\n\t\tt.Fatal(err)\n\t}\n}\n")
	b.put(t, "Makefile", "all:\n\t@echo made > $@.txt\n")
	texts := []string{
		"git add x_test.go && git commit -qm first && git log --oneline && git checkout -qb other && git mv x_test.go y_test.go && git status --short",
		"make all && cat all.txt",
		"mkdir -p node_modules/.bin/deep && echo x > node_modules/.bin/deep/f && mv node_modules/.bin/deep node_modules/deep && rm -r node_modules",
		"f=$(mktemp) && echo x > $f && case $f in $TMPDIR/*) ;; *) exit 1 ;; esac && cat <<< here | tr a-z A-Z | grep HERE",
		"python3 -m venv --without-pip v && v/bin/python -c 'import tempfile, multiprocessing as m; tempfile.mkstemp(); m.Lock()'",
		"sleep 300 & kill $! && ! wait $!",
		"echo x >/dev/null && head -c4 /dev/urandom >/dev/null && mkfifo p && (echo y > p &) && cat p",
		"chmod +x Makefile && touch -d yesterday Makefile && ln -s Makefile m && [ -n \"$(ps aux | head -3)\" ]",
	}
	if b.namespaces() {
		texts = append(texts, "go vet ./... && go test ./...", "script -qc 'echo in a terminal' /dev/null | grep terminal")
	}
	for _, text := range texts {
		if out, exit := b.sh(t, text, 2*time.Minute); exit.Code != 0 {
			t.Errorf("%s: %+v\n%s", text, exit, out)
		}
	}
}

// T-SHELL-5, T-SUB-3: commands of one session are one domain, so a later one ends
// what an earlier one left, and Close ends it too.
func TestConfinedCommandsReachEachOther(t *testing.T) {
	t.Parallel()
	b := held(t, nil)
	out, exit := b.sh(t, "sleep 300 >/dev/null 2>&1 & echo $!", 0)
	if len(exit.LeftRunning) != 1 {
		t.Fatalf("got %+v %s", exit, out)
	}
	if out, exit := b.sh(t, "kill "+out, 0); exit.Code != 0 {
		t.Errorf("kill of an earlier command's child: %+v %s", exit, out)
	}
	until(t, 3*time.Second, "it ends", func() bool { return !running(exit.LeftRunning[0]) })
	_, exit = b.sh(t, "setsid sleep 300 >/dev/null 2>&1 & echo", 0)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range exit.LeftRunning {
		if running(pid) {
			t.Errorf("process %d outlived Close", pid)
		}
	}
}

// P-GUARD-7: the network comes with the tier, and nothing else does.
func TestNetworkComesWithTheTier(t *testing.T) {
	t.Parallel()
	b := held(t, nil)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var out strings.Builder
	text := fmt.Sprintf("exec 3<>/dev/tcp/127.0.0.1/%d && ! cat %s/.car/car.db && ! echo x > %s/f", listener.Addr().(*net.TCPAddr).Port, b.home(), b.outside)
	exit, err := b.Exec(t.Context(), tool.Exec{Text: text, Network: true}, &out)
	if err != nil || exit.Code != 0 {
		t.Errorf("got %+v %v %s", exit, err, out.String())
	}
}

// G-TRUST-3: git's own approved commands change its settings, others do not; a
// repository that came into being later is kept too.
func TestGitSettingsAreOpenToGitOnly(t *testing.T) {
	t.Parallel()
	b := held(t, nil)
	if !b.namespaces() {
		t.Skip("no namespaces here: the limits say that git's settings can be changed")
	}
	if out, exit := b.sh(t, "git init -q . && touch .git/hooks/x", 0); exit.Code != 0 {
		t.Fatalf("%+v %s", exit, out)
	}
	if out, exit := b.sh(t, "git config a.b c", 0); exit.Code == 0 {
		t.Errorf("settings were changed: %s", out)
	}
	var out strings.Builder
	exit, err := b.Exec(t.Context(), tool.Exec{Text: "git config a.b c && git config a.b", Git: true}, &out)
	if err != nil || exit.Code != 0 || out.String() != "c\n" {
		t.Errorf("got %+v %v %s", exit, err, out.String())
	}
}

// A keeper that cannot hold itself holds nothing, and nothing runs without one.
func TestNoKeeperMeansNoConfinement(t *testing.T) {
	t.Parallel()
	b := open(t, func(c *Config) { c.Confine = &Confinement{Helper: []string{"/bin/false", "false"}} })
	if d := b.Describe(); b.Name() != "local" || d.Confinement != "none" || !strings.Contains(d.Limits[0], "not confined") {
		t.Errorf("got %s %+v", b.Name(), d)
	}
	h := held(t, nil)
	l := h.Substrate.(*local)
	l.jail.cfg.Helper = []string{"/bin/false", "false"}
	l.jail.drop(kind{}, l.jail.keepers[kind{}].keeper)
	if _, err := h.Exec(t.Context(), tool.Exec{Text: "touch ran"}, &strings.Builder{}); err == nil {
		t.Error("a command ran without its keeper")
	}
	if _, err := os.Stat(filepath.Join(h.root, "ran")); err == nil {
		t.Error("a command left something without its keeper")
	}
}
