package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// conversation is a car with a terminal around it, driven as a person drives it.
type conversation struct {
	t    *testing.T
	cmd  *exec.Cmd
	keys interface{ Write([]byte) (int, error) }
	// read delivers what the terminal was sent; closed at its end.
	read chan string
	seen string
}

func converse(t *testing.T, s site, args ...string) *conversation {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "car", args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	c := &conversation{t: t, cmd: cmd, keys: f, read: make(chan string, 1024)}
	go func() {
		defer close(c.read)
		buf := make([]byte, 4096)
		for {
			n, err := f.Read(buf)
			if n > 0 {
				c.read <- string(buf[:n])
			}
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { f.Close() })
	return c
}

// expect waits until the terminal was sent a text, and forgets what came before it.
func (c *conversation) expect(text string) {
	c.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		if _, rest, found := strings.Cut(c.seen, text); found {
			c.seen = rest
			return
		}
		select {
		case piece, open := <-c.read:
			if !open {
				c.t.Fatalf("car ended before it showed %q; the last it showed was\n%s", text, c.seen)
			}
			c.seen += piece
		case <-deadline:
			c.t.Fatalf("car never showed %q; the last it showed was\n%s", text, c.seen)
		}
	}
}

func (c *conversation) press(keys string) {
	c.t.Helper()
	if _, err := c.keys.Write([]byte(keys)); err != nil {
		c.t.Fatal(err)
	}
}

// end waits for the process and returns its exit code and all that was still shown.
func (c *conversation) end() (int, string) {
	c.t.Helper()
	for piece := range c.read {
		c.seen += piece
	}
	_ = c.cmd.Wait() // the code is looked at
	return c.cmd.ProcessState.ExitCode(), c.seen
}

// U-CLI-1, U-TUI-6: car alone in a terminal is a conversation; leaving it loses
// nothing, and the command that goes on does so.
func TestCarAloneIsAConversation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	scenario := s.write(t, "scenario.toml", "version = 1\nloop = true\n[[turn]]\ntext = \"I am listening.\"\n")
	c := converse(t, s, "--model", "scripted:"+scenario)
	c.expect("scripted:")
	c.press("hello\r")
	c.expect("I am listening.")
	c.press("/quit\r")
	code, last := c.end()
	if code != 0 {
		t.Errorf("leaving exits with %d", code)
	}
	_, command, found := strings.Cut(last, "car --resume ")
	if !found {
		t.Fatalf("the way back is not told:\n%s", last)
	}
	id, _, _ := strings.Cut(command, "\r")
	again := converse(t, s, "--resume", strings.TrimSpace(id), "--model", "scripted:"+scenario)
	again.expect(strings.TrimSpace(id)[:13])
	again.press("/quit\r")
	if code, last := again.end(); code != 0 {
		t.Errorf("going on exits with %d:\n%s", code, last)
	}
}

// U-TUI-5, P-PROC-3, P-GUARD-8: what follows an exclamation mark is the person's own
// command: it has the terminal but no key, and its output reaches the model when the
// person says so.
func TestOwnCommand(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.env = append(s.env, "SHELL=/bin/sh", "EXAMPLE_API_KEY=invented-1")
	scenario := s.write(t, "scenario.toml", "version = 1\n[[turn]]\nexpect = { contains = \"I am pear\" }\ntext = \"I read it.\"\n")
	c := converse(t, s, "--model", "scripted:"+scenario)
	c.expect("scripted:")
	c.press("!read name; echo I am $name; echo key=$EXAMPLE_API_KEY.; exit 4\r")
	c.expect("! read name")
	c.press("pear\r")
	c.expect("I am pear")
	c.expect("key=.")
	c.expect("exit 4")
	c.press("/share\r")
	c.expect("will read the output")
	c.press("look\r")
	c.expect("I read it.")
	c.press("/quit\r")
	if code, last := c.end(); code != 0 {
		t.Errorf("leaving exits with %d:\n%s", code, last)
	}
}

// U-TUI-10, P-TERM-2: a signal ends the conversation in order and its code tells which.
func TestASignalEndsTheConversation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	scenario := s.write(t, "scenario.toml", "version = 1\n[[turn]]\ntext = \"x\"\n")
	c := converse(t, s, "chat", "--model", "scripted:"+scenario)
	c.expect("scripted:")
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	code, last := c.end()
	if code != int(exitTerminated) {
		t.Errorf("exit code %d, want %d", code, exitTerminated)
	}
	if strings.LastIndex(last, "\x1b[?25l") > strings.LastIndex(last, "\x1b[?25h") {
		t.Errorf("the cursor stays hidden: %q", last)
	}
}

// U-CLI-2, U-TUI-4: at a terminal, car do asks in plain lines; enter alone says
// nothing, and a no with words reaches the model.
func TestDoAsksAtATerminal(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	scenario := s.write(t, "scenario.toml", "version = 1\n[[turn]]\ntext = \"I try.\"\n[[turn.call]]\nname = \"write_file\"\nargs = { path = \"a.txt\", content = \"x\" }\n"+
		"[[turn]]\nexpect = { last_result_contains = \"not in this folder\" }\ntext = \"I see.\"\n")
	c := converse(t, s, "do", "--local", "--model", "scripted:"+scenario, "write a file")
	c.expect("write_file wants to run")
	c.expect("x no, and stop: ")
	c.press("\r")
	c.expect("y, s, n or x: ")
	c.press("n not in this folder\r")
	c.expect("I see.")
	if code, last := c.end(); code != int(exitRefused) {
		t.Errorf("exit code %d, want %d:\n%s", code, exitRefused, last)
	}
}

// The same question with a yes lets the call run, and nothing else.
func TestDoRunsWhatWasAllowed(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	scenario := s.write(t, "scenario.toml", "version = 1\n[[turn]]\ntext = \"I try.\"\n[[turn.call]]\nname = \"write_file\"\nargs = { path = \"a.txt\", content = \"x\" }\n[[turn]]\ntext = \"Written.\"\n")
	c := converse(t, s, "do", "--local", "--model", "scripted:"+scenario, "write a file")
	c.expect("x no, and stop: ")
	c.press("y\r")
	c.expect("Written.")
	if code, last := c.end(); code != 0 {
		t.Errorf("exit code %d:\n%s", code, last)
	}
}

// G-TRUST-2: trust is given by a person, to files as they are; then what they
// allow counts, until one of them changes.
func TestTrustIsGivenAtTheTerminalAndForAContent(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.mkdir(t, ".car/policies")
	s.write(t, ".car/policies/10.toml", "[[command]]\nrun = \"touch made\"\ndecide = \"allow\"\n")
	proposal := s.write(t, "p.json", `{"actions":[{"type":"tool_call","tool":"shell","parameters":{"command":"touch made"}}]}`)
	code := func() int {
		cmd := s.car(t.Context(), "run", "--local", proposal)
		_ = cmd.Run() // the code is looked at
		return cmd.ProcessState.ExitCode()
	}
	if got := code(); got != int(exitRefused) {
		t.Fatalf("before trust the command exits with %d, want %d", got, exitRefused)
	}
	c := converse(t, s, "trust")
	c.expect(".car/policies/10.toml")
	c.expect("type yes: ")
	c.press("yes\r")
	if got, last := c.end(); got != 0 {
		t.Fatalf("trust exits with %d:\n%s", got, last)
	}
	if got := code(); got != 0 {
		t.Errorf("after trust the command exits with %d", got)
	}
	s.write(t, ".car/policies/10.toml", "[[command]]\nrun = \"touch made\"\ndecide = \"allow\"\n# changed\n")
	if got := code(); got != int(exitRefused) {
		t.Errorf("after a change the command exits with %d, want %d", got, exitRefused)
	}
}

// D-31, G-TRUST-2: trust in a project's program covers the script that it runs; a
// script that changed, before or during a session, does not run until it is trusted again.
func TestTrustCoversTheScriptThatAToolRuns(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.mkdir(t, ".car")
	s.write(t, ".car/tools.toml", "[[tool]]\nname = \"greet\"\ncommand = \"sh\"\nargs = [\"greet.sh\"]\n")
	s.write(t, "greet.sh", `read r; echo '{"jsonrpc":"2.0","id":1,"result":"good morning"}'`+"\n")
	once := s.write(t, "p.json", `{"actions":[{"type":"tool_call","tool":"greet"}]}`)
	// The second proposal changes the script before it calls the program.
	twice := s.write(t, "q.json", `{"actions":[{"id":"a","type":"tool_call","tool":"shell","parameters":{"command":"echo evil > greet.sh"}},`+
		`{"id":"b","type":"tool_call","tool":"greet","dependencies":["a"]}]}`)
	run := func(file string) (int, string) {
		cmd := s.car(t.Context(), "run", "--tier", "full_access", file)
		out, _ := cmd.CombinedOutput() // the code is looked at
		return cmd.ProcessState.ExitCode(), string(out)
	}
	trust := func() {
		t.Helper()
		c := converse(t, s, "trust")
		c.expect("type yes: ")
		c.press("yes\r")
		if code, last := c.end(); code != 0 {
			t.Fatalf("trust exits with %d:\n%s", code, last)
		}
	}
	if code, out := run(once); code == 0 || strings.Contains(out, "good morning") {
		t.Fatalf("untrusted, it ran: exit %d\n%s", code, out)
	}
	trust()
	if code, out := run(once); code != 0 || !strings.Contains(out, "good morning") {
		t.Fatalf("trusted, it did not run: exit %d\n%s", code, out)
	}
	if code, out := run(twice); code == 0 || !strings.Contains(out, "greet.sh changed since you trusted it") {
		t.Errorf("changed in the same proposal: exit %d\n%s", code, out)
	}
	s.write(t, "greet.sh", `read r; echo '{"jsonrpc":"2.0","id":1,"result":"other"}'`+"\n")
	if code, out := run(once); code == 0 || !strings.Contains(out, "changed since you trusted it: greet.sh") {
		t.Errorf("changed between: exit %d\n%s", code, out)
	}
	trust()
	if code, out := run(once); code != 0 || !strings.Contains(out, "other") {
		t.Errorf("trusted again: exit %d\n%s", code, out)
	}
}

// U-TUI-6, U-TUI-8, A-DUR-7: esc esc goes back to before an earlier message, which is in
// the editor again; what came after it is left out of what the model is told.
func TestRewindInTheConversation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	scenario := s.write(t, "scenario.toml", "version = 1\nloop = true\n[[turn]]\ntext = \"One heard.\"\n[[turn]]\ntext = \"Two heard.\"\n")
	c := converse(t, s, "--model", "scripted:"+scenario)
	c.expect("scripted:")
	c.press("first thing\r")
	c.expect("One heard.")
	c.press("second thing\r")
	c.expect("Two heard.")
	c.expect("/ for commands")
	c.press("\x1b")
	c.expect("esc again")
	c.press("\x1b")
	c.expect("go back to before")
	c.expect("first thing")
	c.press("\r") // the newest
	c.expect("One heard.")
	c.expect("second thing") // in the editor
	c.press(" again\r")
	c.expect("heard.")
	c.press("/export out.jsonl\r")
	c.expect("Written to")
	c.press("/quit\r")
	if code, last := c.end(); code != 0 {
		t.Fatalf("leaving exits with %d:\n%s", code, last)
	}
	cmd := s.car(t.Context(), "sessions", "show", lastSession(t, s))
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "second thing (left out of prompts)") && strings.Count(string(out), "left out of prompts") != 2 {
		t.Errorf("%v:\n%s", err, out)
	}
}

// lastSession is the id of the newest session of the site's project.
func lastSession(t *testing.T, s site) string {
	t.Helper()
	out, err := s.car(t.Context(), "sessions", "list", "--json").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(string(out), `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// U-TUI-8: /resume offers the other sessions of the project and goes on with the chosen
// one, whose last words are shown.
func TestResumeInTheConversation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	scenario := s.write(t, "scenario.toml", "version = 1\nloop = true\n[[turn]]\ntext = \"Plums are ripe.\"\n")
	if out, err := s.car(t.Context(), "do", "--model", "scripted:"+scenario, "which fruit is ripe?").CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	c := converse(t, s, "--model", "scripted:"+scenario)
	c.expect("scripted:")
	c.press("/resume\r")
	c.expect("go on with")
	c.expect("which fruit is ripe?")
	c.press("fruit\r")
	c.expect("which fruit is ripe?")
	c.expect("Plums are ripe.")
	c.press("/cost\r")
	c.expect("requests")
	c.press("/goal \"true\" see that it is green\r")
	c.expect("until true")
	c.expect("passes already, before any work")
	c.press("/model nobody/nothing\r")
	c.expect("nobody")
	c.press("/quit\r")
	if code, last := c.end(); code != 0 {
		t.Errorf("leaving exits with %d:\n%s", code, last)
	}
}

// G-POL-6: what a person allowed again and again becomes a rule they could add, which
// reads as one; what loses work does not.
func TestPolicySuggest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	var b strings.Builder
	b.WriteString("version = 1\n")
	commands := []string{"cargo build --offline", "cargo build -q --offline", "git tag v1", "rm -rf build; git reset --hard", "git reset --hard HEAD~1"}
	for _, command := range commands {
		b.WriteString("[[turn]]\n[[turn.call]]\nname = \"shell\"\nargs = { command = '" + command + "' }\n")
	}
	b.WriteString("[[turn]]\ntext = \"Over.\"\n")
	scenario := s.write(t, "scenario.toml", b.String())
	if out, err := s.car(t.Context(), "policy", "suggest").Output(); err != nil || !strings.Contains(string(out), "nothing to suggest") {
		t.Fatalf("%v: %s", err, out)
	}
	c := converse(t, s, "do", "--local", "--model", "scripted:"+scenario, "go")
	for range commands {
		c.expect("x no, and stop: ")
		c.press("y\r")
	}
	c.expect("Over.")
	c.end()
	out, err := s.car(t.Context(), "policy", "suggest").Output()
	if err != nil {
		t.Fatal(err)
	}
	text := string(out)
	if !strings.Contains(text, "[[command]]\nrun = \"cargo build\"\ndecide = \"allow\"\n") || !strings.Contains(text, "#   cargo build -q --offline") {
		t.Errorf("no rule for cargo build:\n%s", text)
	}
	if strings.Contains(text, `run = "git reset"`) || strings.Contains(text, "git tag") {
		t.Errorf("a rule for too much:\n%s", text)
	}
	s.mkdir(t, ".car/policies")
	s.write(t, ".car/policies/30.toml", text)
	if out, err := s.car(t.Context(), "policy", "check").CombinedOutput(); err != nil {
		t.Errorf("what is suggested can not be read: %v\n%s", err, out)
	}
}

// P-WORK-1, T-SHELL-11: what git would lose is listed under the question, kept before the command
// runs, and an undo brings it back.
func TestWhatGitWouldLose(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
		cmd.Dir, cmd.Env = s.dir, s.env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	kept := s.write(t, "kept.txt", "one\n")
	git("add", ".")
	git("commit", "-q", "-m", "first words")
	git("branch", "side")
	s.write(t, "kept.txt", "two\n")
	loose := s.write(t, "loose.txt", "three\n")
	scenario := s.write(t, "scenario.toml", "version = 1\n[[turn]]\n[[turn.call]]\nname = \"shell\"\nargs = { command = \"git reset --hard\" }\n"+
		"[[turn]]\n[[turn.call]]\nname = \"shell\"\nargs = { command = \"git clean -fd\" }\n"+
		"[[turn]]\n[[turn.call]]\nname = \"shell\"\nargs = { command = \"git branch -D side\" }\n[[turn]]\ntext = \"Over.\"\n")
	c := converse(t, s, "do", "--model", "scripted:"+scenario, "go")
	c.expect("would be lost")
	c.expect(" M kept.txt")
	c.expect("x no, and stop: ")
	c.press("y\r")
	c.expect("would be lost")
	c.expect("?? loose.txt")
	c.expect("x no, and stop: ")
	c.press("y\r")
	c.expect("side: first words")
	c.expect("x no, and stop: ")
	c.press("n\r")
	c.end()
	if text, err := os.ReadFile(kept); err != nil || string(text) != "one\n" {
		t.Fatalf("the reset did not run: %q, %v", text, err)
	}
	if out, err := s.car(t.Context(), "undo").CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for path, want := range map[string]string{kept: "two\n", loose: "three\n"} {
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("%s came back as %q, %v", path, text, err)
		}
	}
}
