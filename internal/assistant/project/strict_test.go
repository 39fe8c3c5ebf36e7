package project_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"car/internal/assistant/llm"
	"car/internal/assistant/project"
)

// B091, G-POL-1, P-GUARD-6: what is present but broken stops the run and names
// file, line and key; a misspelt key brings the one that is meant.
func TestB091BrokenFiles(t *testing.T) {
	t.Parallel()
	const policies, config = "home/p/.car/policies/main.toml", "home/p/.car/config.toml"
	for _, c := range []struct {
		name string
		file string
		text string
		line int
		key  string
		says string
	}{
		{"missing quote", policies, "# rules\n\ndeny_tool = [\"a]\n", 3, "deny_tool", "newlines"},
		{"unknown key", policies, "deny_tool = []\ndenny_tool = [\"a\"]\n", 2, "denny_tool", `unknown key; is "deny_tool" meant?`},
		{"unknown key with no likeness", policies, "zzzzzzzzzz = 1\n", 1, "zzzzzzzzzz", "unknown key"},
		{"another letter case", policies, "Deny_Tool = [\"a\"]\n", 1, "Deny_Tool", `unknown key; is "deny_tool" meant?`},
		{"unknown key in the second rule", policies, "[[command]]\nrun = \"a\"\ndecide = \"deny\"\n\n[[command]]\nrun = \"b\"\ndecide = \"deny\"\nreson = \"x\"\n", 8, "command[1].reson", `is "reason" meant?`},
		{"wrong type", policies, "deny_tool = \"shell\"\n", 1, "deny_tool", "must be a list, not text"},
		{"wrong type of an element", policies, "deny_tool = [\n  \"a\",\n  7,\n]\n", 3, "deny_tool[1]", "must be text, not a number"},
		{"wrong type in the second rule", policies, "[[rate_limit_tool]]\ntool = \"a\"\nmax_calls = 1\ninterval_secs = 1\n[[rate_limit_tool]]\ntool = \"b\"\nmax_calls = \"1\"\ninterval_secs = 1\n", 7, "rate_limit_tool[1].max_calls", "must be a whole number, not text"},
		{"a table for a list", policies, "[deny_tool]\na = 1\n", 1, "deny_tool", "must be a list, not a table"},
		{"a bad pattern", policies, "deny_tool = [\"a\"]\n[[deny_tool_param_matching]]\ntool = \"x\"\nparam = \"y\"\nmatches = \"(\"\n", 2, "deny_tool_param_matching[0]", "missing closing"},
		{"an empty tool", policies, "deny_tool = [\"a\", \"\"]\n", 1, "deny_tool[1]", "must not be empty"},
		{"a bad verdict", policies, "[[command]]\nrun = \"a\"\ndecide = \"alow\"\n", 1, "command[0]", "alow"},
		{"a rule twice", policies, "deny_tool = [\"a\"]\ndeny_tool = [\"b\"]\n", 2, "deny_tool", "already"},
		{"a byte order mark", policies, "\ufeffdeny_tool = [\"a\"]\n", 1, "", "byte order mark"},
		{"UTF-16", policies, "\xff\xfed\x00", 1, "", "UTF-16"},
		{"no UTF-8", policies, "# one\n# two\ndeny_tool = [\"\xff\"]\n", 3, "", "not UTF-8"},
		{"too large", policies, "#" + strings.Repeat("x", 1<<20), 0, "", "bytes"},
		{"unknown table", config, "[tols]\nnetwork = \"off\"\n", 1, "tols", `is "tools" meant?`},
		{"unknown word", config, "posture = \"trustin\"\n", 1, "posture", "trusting"},
		{"unknown tier", config, "\ntier = \"root\"\n", 2, "tier", "full_access"},
		{"a word of ours", config, "[tools]\ncaches = \"privat\"\n", 2, "tools.caches", `is "private" meant?`},
		{"a number for a word", config, "[tools]\nnetwork = true\n", 2, "tools.network", "must be text, not true or false"},
		{"a key in the wrong table", config, "[tools]\nposture = \"cautious\"\n", 2, "tools.posture", "unknown key"},
		{"a provider's key", config, "[provider.x]\nkind = \"openai\"\nbase_ulr = \"http://x\"\n", 3, "provider.x.base_ulr", `is "base_url" meant?`},
		{"a provider without kind", config, "[provider.x]\nbase_url = \"http://x\"\n", 1, "provider.x", "needs kind"},
		{"a value for a variable's name", config, "[provider.x]\nkind = \"openai\"\nkey_env = \"sk-test-AAAA1111BBBB2222\"\n", 3, "provider.x.key_env", "is not the name of a variable"},
		{"two credentials", config, "[provider.x]\nkind = \"openai\"\nkey_env = \"A\"\ntoken_env = \"B\"\n", 1, "provider.x", "takes one of"},
		{"no address", config, "[provider.x]\nkind = \"openai\"\nbase_url = \"localhost:1\"\n", 3, "provider.x.base_url", "is not an address"},
		{"a password in an address", config, "[provider.x]\nkind = \"openai\"\nbase_url = \"https://a:b@c\"\n", 3, "provider.x.base_url", "neither user"},
		{"a relative root", config, "[tools]\nread_roots = [\n\"/a\",\n\"b\"]\n", 4, "tools.read_roots[1]", "is not an absolute path"},
		{"a host with a scheme", config, "[tools]\nallow_hosts = [\"http://a\"]\n", 2, "tools.allow_hosts[0]", "is not a host"},
		{"a variable with its value", config, "[tools]\nenv_pass = [\"A=b\"]\n", 2, "tools.env_pass[0]", "is not the name of a variable"},
		{"a timeout too short", config, "[approval]\ntimeout = \"9s\"\n", 2, "approval.timeout", "between 10s and 24h"},
		{"a timeout that is none", config, "[approval]\ntimeout = \"soon\"\n", 2, "approval.timeout", "is no duration"},
		{"a model without provider", config, "[model]\nname = \"gpt\"\n", 2, "model.name", "is not provider/model"},
		{"a price below zero", config, "[provider.x]\nkind = \"openai\"\n[provider.x.models.\"a:b\"]\ninput_usd = -1\n", 4, `provider.x.models."a:b".input_usd`, "is no price"},
		{"a search without address", config, "[tools.search]\nbackend = \"searxng\"\n", 1, "tools.search", "needs url"},
		{"a misspelt file", "home/p/.car/polices/a.toml", "", 0, "", `is no file that car knows, so it governs nothing; is "policies" meant?`},
		{"a misspelt config", "home/p/.car/confg.toml", "", 0, "", `is "config.toml" meant?`},
		{"a folder of rules", "home/p/.car/policies/team/a.toml", "", 0, "", "move its files up"},
		{"the person's rules", "home/.car/policies/a.toml", "deny = 1\n", 1, "deny", "unknown key"},
		{"the person's settings", "home/.car/config.toml", "deny = 1\n", 1, "deny", "unknown key"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, map[string]string{c.file: c.text})
			p, err := h.try("home/p/a")
			all := problems(err)
			if len(all) != 1 || p != nil {
				t.Fatalf("%d problems, project %v: %v", len(all), p, err)
			}
			got, file := all[0], h.path(c.file)
			if strings.HasPrefix(got.File, h.path("home")) && len(got.File) < len(file) {
				file = got.File // a stray folder is named, not what is in it
			}
			if got.File != file || got.Line != c.line || got.Key != c.key || !strings.Contains(got.Error(), c.says) {
				t.Errorf("got %s (line %d, key %q)\nwant line %d, key %q and %q", got, got.Line, got.Key, c.line, c.key, c.says)
			}
			if strings.Contains(err.Error(), "sk-test") {
				t.Errorf("the message shows what may be a secret: %v", err)
			}
		})
	}
}

// B091: everything that is wrong is said at once, in files of the person and of projects.
func TestAllProblemsAreReported(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{
		"home/.car/config.toml":         "posture = 1\n",
		"home/p/.car/config.toml":       "x = 1\ny = 2\n",
		"home/p/.car/policies/a.toml":   "deny_tool = [\"\"]\nz = 1",
		"home/p/.car/policies/b.toml":   "deny_tool = [\n",
		"home/p/v/.git/HEAD":            "",
		"home/p/v/.car/policies/c.toml": "deny_tool = [\"\"]\ndeny_keyword = [\"\"]",
	})
	_, err := h.try("home/p/v")
	var got []string
	for _, p := range problems(err) {
		got = append(got, strings.TrimPrefix(p.File, h.top)+fmt.Sprintf(":%d %s", p.Line, p.Key))
	}
	want := []string{
		"/home/.car/config.toml:1 posture", "/home/p/.car/config.toml:1 x", "/home/p/.car/config.toml:2 y",
		"/home/p/.car/policies/a.toml:2 z", "/home/p/.car/policies/b.toml:1 deny_tool",
		"/home/p/v/.car/policies/c.toml:1 deny_tool[0]", "/home/p/v/.car/policies/c.toml:2 deny_keyword[0]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("problems:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// B091, P-GUARD-6: an empty file and no file are zero rules; what is no rule is let be.
func TestEmptyAndAbsentAreZeroRules(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{
		"home/p/.car/config.toml": "", "home/p/.car/policies/a.toml": "# nothing yet\n", "home/p/.car/policies/README.md": "x",
		"home/p/.car/policies/tests.toml": "cases = 1", "home/p/.car/README.md": "x", "home/p/.car/.gitignore": "x", "home/p/.car/.idea/x": "",
		"home/q/.car/": "",
	})
	if p := h.load("home/p"); len(p.Rules) != 1 || len(p.Files) != 2 || p.Notice() != "" {
		t.Errorf("rules %+v, files %+v, notice %q", p.Rules, p.Files, p.Notice())
	}
	if p := h.load("home/q"); len(p.Rules) != 0 || len(p.Files) != 0 || p.Root != h.path("home/q") {
		t.Errorf("an empty folder: %+v", p)
	}
}

// P-GUARD-5, T-FILE-6: a project's file that leads out of its .car, that is a pipe,
// or that leads nowhere, is refused and does not hang.
func TestOddFilesAreRefused(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(h *house){
		"leads out":     func(h *house) { h.write("home/x.toml", ""); h.link("home/p/.car/config.toml", "../../x.toml") },
		"absolute link": func(h *house) { h.write("home/x.toml", ""); h.link("home/p/.car/config.toml", h.path("home/x.toml")) },
		"leads nowhere": func(h *house) { h.link("home/p/.car/config.toml", "gone.toml") },
		"a pipe": func(h *house) {
			h.write("home/p/.car/", "")
			makePipe(h.t, h.path("home/p/.car/config.toml"))
		},
		"a folder":           func(h *house) { h.write("home/p/.car/config.toml/", "") },
		"policies leads out": func(h *house) { h.write("home/x/a.toml", ""); h.link("home/p/.car/policies", "../../x") },
		"policies nowhere":   func(h *house) { h.link("home/p/.car/policies", "gone") },
	} {
		h := newHouse(t, nil)
		make(h)
		if _, err := h.try("home/p"); len(problems(err)) != 1 {
			t.Errorf("%s: %v, want one problem", name, err)
		}
	}
}

// B091: a file that cannot be read is not absent.
func TestAnUnreadableFileIsNotAbsent(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		// Root reads everything; the same refusal is met through a link that leads out.
		h := newHouse(t, map[string]string{"home/p/.car/a.md": ""})
		h.link("home/p/.car/config.toml", "/proc/self/mem")
		if _, err := h.try("home/p"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
			t.Errorf("%v, want an error", err)
		}
		return
	}
	h := newHouse(t, map[string]string{"home/p/.car/config.toml": ""})
	must(t, os.Chmod(h.path("home/p/.car/config.toml"), 0))
	if _, err := h.try("home/p"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("%v, want an error", err)
	}
}

// A person's own files may be links into a folder of dotfiles.
func TestThePersonsFilesMayBeLinks(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{"home/dotfiles/car.toml": "posture = \"cautious\"\n", "home/p/x": ""})
	h.link("home/.car/config.toml", h.path("home/dotfiles/car.toml"))
	if p := h.load("home/p"); p.Settings.Posture.V.String() != "cautious" {
		t.Errorf("posture %v", p.Settings.Posture)
	}
}

// The words of other rooms are theirs.
func TestWordsAreThoseOfTheirRooms(t *testing.T) {
	t.Parallel()
	for key, words := range map[string][]string{"effort": {"default", "off", "low", "medium", "high", "max"}, "cache": {"off", "5m", "1h"}} {
		for _, w := range append(words, "nonsense") {
			h := newHouse(t, map[string]string{"home/.car/config.toml": fmt.Sprintf("[model]\n%s = %q\n", key, w)})
			_, err := h.try("home/p")
			var e llm.Effort
			var c llm.Cache
			theirs := e.UnmarshalText([]byte(w))
			if key == "cache" {
				theirs = c.UnmarshalText([]byte(w))
			}
			if (err == nil) != (theirs == nil) {
				t.Errorf("%s = %q: here %v, there %v", key, w, err, theirs)
			}
		}
	}
}

// Other rooms' files are read here and decoded as strictly.
func TestOtherFilesAreHandedOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, map[string]string{
		"home/p/.car/production-gates.toml": "[[gates]]\nname = \"a\"\n[[gates]]\nnam = \"b\"\n",
		"home/p/.car/intent.json":           "{}", "home/.car/mcp.toml": "", "home/.car/car.db": "x", "home/.car/mcp-pins.json": "{}",
	})
	p := h.load("home/p")
	var names []string
	for _, f := range p.Files {
		names = append(names, f.Name)
		if f.Name != ".car/production-gates.toml" {
			continue
		}
		var v struct {
			Gates []struct {
				Name string `toml:"name"`
			} `toml:"gates"`
		}
		lines, err := f.Decode(&v)
		all := problems(err)
		if len(all) != 1 || all[0].Line != 4 || all[0].Key != "gates[1].nam" || lines["gates[0].name"] != 2 {
			t.Errorf("decode: %v, lines %v", err, lines)
		}
		if f.Digest != project.DigestOf(f.Text()) {
			t.Error("the digest is not of the text")
		}
	}
	if want := []string{"mcp.toml", ".car/intent.json", ".car/production-gates.toml"}; !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}
