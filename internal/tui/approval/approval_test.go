package approval

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/muesli/termenv"
	"pgregory.net/rapid"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/theme"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func shell(id, command string) assistant.ApprovalPending {
	return assistant.ApprovalPending{
		ApprovalID: id, CallID: "call-" + id, Tool: "shell", Params: map[string]any{"command": command},
		Tier: ir.FullAccess, Reversibility: ir.Irreversible, Reason: "rule ask-network: ssh leaves this machine",
		Scope:     map[string]any{"target": "web-7", "target_source": "derived", "cwd": "/home/ann/orchard", "environment": "unspecified", "credential_capabilities": []any{"ssh:agent"}},
		Commands:  []ir.CommandView{{Text: command, Tier: ir.FullAccess, Reversibility: ir.Irreversible, Reason: "runs elsewhere"}},
		ExpiresAt: now.Add(4*time.Minute + 32*time.Second),
	}
}

func editFile(id string) assistant.ApprovalPending {
	return assistant.ApprovalPending{
		ApprovalID: id, CallID: "call-" + id, Tool: "edit_file", Tier: ir.SandboxEdit, Reversibility: ir.Reversible,
		Params:  map[string]any{"path": "menu.txt", "old_text": "price 12\n", "new_text": "price 14\n"},
		Preview: []ir.Block{{Kind: ir.BlockDiff, Title: "menu.txt", Text: "--- a/menu.txt\n+++ b/menu.txt\n@@ -1,2 +1,2 @@\n soup\n-price 12\n+price 14\n"}},
	}
}

// open is a pane that was drawn, with nobody typing.
func open(width, height int, pending ...assistant.ApprovalPending) Model {
	m := Model{}.Resize(width, height, theme.Plain()).At(now)
	for _, p := range pending {
		m = m.Asked(p, false)
	}
	return m.Drawn(m.Generation())
}

func press(m Model, keys ...string) (Model, *Decision) {
	var d *Decision
	for _, k := range keys {
		var got *Decision
		if m, got = m.Key(key(k)); got != nil {
			d = got
		}
		m = m.Drawn(m.Generation())
	}
	return m, d
}

func key(name string) tea.KeyMsg {
	for _, k := range []tea.KeyType{tea.KeyEnter, tea.KeyEsc, tea.KeyPgDown, tea.KeyPgUp, tea.KeyUp, tea.KeyDown, tea.KeyTab, tea.KeyShiftTab, tea.KeyCtrlS, tea.KeyBackspace} {
		if k.String() == name {
			return tea.KeyMsg{Type: k}
		}
	}
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(" ")}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// longCommand is B011's: forty lines, the last of which deletes.
func longCommand() string {
	var b strings.Builder
	b.WriteString("ssh web-7 '\n")
	for i := range 38 {
		fmt.Fprintf(&b, "  echo step %d\n", i)
	}
	b.WriteString("rm -rf /srv/old'")
	return b.String()
}

// U-TUI-4, G-APPR-3: what the pane looks like.
func TestViewGolden(t *testing.T) {
	t.Parallel()
	words, _ := press(open(80, 12, shell("a", "git push")), "d", "n", "o", "t", " ", "n", "o", "w")
	edit, _ := press(open(80, 12, editFile("a")), "e")
	group := []assistant.ApprovalPending{shell("a", "git push origin main"), shell("b", "git push origin v1")}
	group[0].Group, group[1].Group = "g", "g"
	read, _ := press(open(80, 16, shell("a", longCommand())), "pgdown", "pgdown", "pgdown", "pgdown")
	deaf := Model{}.Resize(80, 12, theme.New(theme.Options{Profile: termenv.ANSI})).At(now).Asked(shell("a", "git push"), true)
	for name, m := range map[string]Model{
		"shell-80": open(80, 14, shell("a", "git push origin main")), "shell-40": open(40, 12, shell("a", "cd a && git push origin main --force-with-lease")),
		"shell-120": open(120, 20, shell("a", "git push origin main")), "shell-20": open(20, 9, shell("a", "git push origin main")),
		"edit-80": open(80, 14, editFile("a"), shell("b", "ls")), "long-80": open(80, 16, shell("a", longCommand())), "long-read-80": read,
		"group-80": open(80, 24, group...), "words-80": words, "params-80": edit, "deaf-80": deaf,
	} {
		lines, caret := m.View()
		got := strings.ReplaceAll(strings.Join(lines, "\n"), "\x1b", "␛") + fmt.Sprintf("\n-- caret %v\n", caret)
		if caret != nil {
			got = strings.ReplaceAll(got, fmt.Sprint(caret), fmt.Sprint(*caret))
		}
		file := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

// B011: yes is offered only when the whole command has been on the screen.
func TestB011WholeCommandBeforeYes(t *testing.T) {
	t.Parallel()
	m := open(80, 16, shell("a", longCommand()))
	shown := map[string]bool{}
	look := func() {
		lines, _ := m.View()
		for _, l := range lines {
			shown[l] = true
		}
	}
	look()
	for range 12 {
		for _, k := range []string{"y", "s", "e"} {
			if !shown["│ rm -rf /srv/old'"] {
				var d *Decision
				if m, d = press(m, k); d != nil || m.mode != choose {
					t.Fatalf("%s answered before the last line was shown", k)
				}
			}
		}
		m, _ = press(m, "pgdown")
		look()
	}
	if !shown["│ rm -rf /srv/old'"] {
		t.Fatalf("the deleting line can not be reached: %v", shown)
	}
	if _, d := press(m, "y"); d == nil || d.Answer.Kind != assistant.AnswerOnce || d.Answer.By != "user" {
		t.Errorf("after reading it all y gave %+v", d)
	}
}

// P-GUARD-2: in no size, with no keys and no resizes is anything allowed of which a line was not shown.
func TestNothingUnseenIsAllowed(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.IntRange(1, 40).Draw(t, "lines")
		m := open(rapid.IntRange(1, 90).Draw(t, "width"), rapid.IntRange(1, 30).Draw(t, "height"),
			shell("a", strings.Repeat("some words of a command; ", 3)+strings.Repeat("\nx", lines)))
		width := m.width
		shown := map[int]bool{}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			view, _ := m.View()
			if m.width != width {
				width, shown = m.width, map[int]bool{}
			}
			if len(view) > m.height {
				t.Fatalf("%d lines in a pane of %d", len(view), m.height)
			}
			for i := range max(0, min(m.rows(), len(view)-1)) {
				if at := m.prompts[0].top + i; view[1+i] == m.text[at] {
					shown[at] = true
				}
			}
			if rapid.IntRange(0, 9).Draw(t, "resize") == 0 {
				m = m.Resize(rapid.IntRange(1, 90).Draw(t, "w"), rapid.IntRange(1, 30).Draw(t, "h"), theme.Plain())
				continue
			}
			next, d := press(m, rapid.SampledFrom([]string{"pgdown", "pgup", "down", "up", " ", "y", "s", "enter"}).Draw(t, "key"))
			if d != nil {
				for i := range m.text {
					if !shown[i] {
						t.Fatalf("%v was answered, line %d of %d was never shown", d.Answer.Kind, i, len(m.text))
					}
				}
				return
			}
			m = next
		}
	})
}

// U-TUI-4: keys typed before the prompt appeared do not answer it; Enter and pastes never do.
func TestDeafUntilDrawn(t *testing.T) {
	t.Parallel()
	answers := func(m Model, k tea.KeyMsg) bool { _, d := m.Key(k); return d != nil }
	m := Model{}.Resize(80, 20, theme.Plain()).Asked(shell("a", "ls"), false)
	if answers(m, key("y")) || m.Armed() {
		t.Error("a key answered a prompt that was not drawn")
	}
	m = m.Drawn(m.Generation() - 1)
	if answers(m, key("y")) {
		t.Error("a key answered although only an older picture was drawn")
	}
	m = m.Drawn(m.Generation())
	if !answers(m, key("y")) || !answers(m, key("n")) {
		t.Error("a drawn prompt takes no keys")
	}
	for _, k := range []tea.KeyMsg{key("enter"), {Type: tea.KeyRunes, Runes: []rune("y"), Paste: true}, {Type: tea.KeyRunes, Runes: []rune("y"), Alt: true}, key("Y"), key("yes")} {
		if answers(m, k) {
			t.Errorf("%v answered", k)
		}
	}
	typing := Model{}.Resize(80, 20, theme.Plain()).Asked(shell("a", "ls"), true)
	typing = typing.Drawn(typing.Generation())
	if answers(typing, key("y")) {
		t.Error("a key answered in the middle of typing")
	}
	if typing = typing.Typing(false); !answers(typing, key("y")) {
		t.Error("a person who turned to the prompt can not answer it")
	}
}

// A question that joins a group changes what would be allowed, so keys wait for the new picture.
func TestNewMemberOfAGroupDisarms(t *testing.T) {
	t.Parallel()
	a, b := shell("a", "git push origin main"), shell("b", "git push origin v1")
	a.Group, b.Group = "g", "g"
	m := open(80, 30, a)
	m = m.Asked(b, false)
	if m.Armed() {
		t.Error("the prompt is armed for a picture nobody has seen")
	}
	_, d := press(m.Drawn(m.Generation()), "s")
	if d == nil || d.Answer.Kind != assistant.AnswerSession || !slices.Equal(d.IDs, []string{"a", "b"}) {
		t.Errorf("got %+v", d)
	}
}

// U-TUI-4: each key's answer.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]assistant.Answer{
		"y":               {Kind: assistant.AnswerOnce, By: "user"},
		"s":               {Kind: assistant.AnswerSession, By: "user"},
		"n":               {Kind: assistant.AnswerDeny, By: "user"},
		"x":               {Kind: assistant.AnswerDenyAndStop, By: "user"},
		"d,a,y,enter":     {Kind: assistant.AnswerDeny, Reason: "ay", By: "user"},
		"d,enter":         {Kind: assistant.AnswerDeny, By: "user"},
		"d,y,esc,n":       {Kind: assistant.AnswerDeny, By: "user"},
		"e,ctrl+s":        {Kind: assistant.AnswerEdit, Params: map[string]any{"command": "ls"}, By: "user"},
		"e,esc,e,!,esc,y": {Kind: assistant.AnswerOnce, By: "user"},
	} {
		m, d := press(open(80, 20, shell("a", "ls")), strings.Split(keys, ",")...)
		if d == nil {
			t.Errorf("%s: no decision", keys)
			continue
		}
		if diff := cmp.Diff(want, d.Answer); diff != "" {
			t.Errorf("%s: %s", keys, diff)
		}
		if _, again := press(m, "y"); again != nil {
			t.Errorf("%s: a second answer was given", keys)
		}
	}
}

// U-TUI-4: edited parameters are one exact object or nothing.
func TestEditIsRefusedUnlessExact(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		`{"command": "ls -l", "n": 3}`: map[string]any{"command": "ls -l", "n": 3.0},
		`{"n": 9007199254740993}`:      nil,
		`{"n": 1e400}`:                 nil,
		`{"a": [1.5, {"b": -2}]}`:      map[string]any{"a": []any{1.5, map[string]any{"b": -2.0}}},
		`[1]`:                          nil,
		`null`:                         nil,
		`{"a": 1} {"b": 2}`:            nil,
		`{"a": `:                       nil,
	} {
		got, err := decode(text)
		if want == nil {
			if err == nil {
				t.Errorf("%s was taken as %v", text, got)
			}
			continue
		}
		if diff := cmp.Diff(want, any(got)); diff != "" || err != nil {
			t.Errorf("%s: %v %s", text, err, diff)
		}
	}
	m, _ := press(open(80, 20, shell("a", "ls")), "e", "x")
	m, d := press(m, "ctrl+s")
	if lines, _ := m.View(); d != nil || !strings.Contains(strings.Join(lines, "\n"), "behind the object") {
		t.Errorf("the mistake is not shown: %q", lines)
	}
}

// U-TUI-4: several pending have a counter and next and previous; each is answered by itself.
func TestSeveral(t *testing.T) {
	t.Parallel()
	m := open(80, 20, shell("a", "ls"), shell("b", "pwd"), shell("c", "id"))
	if lines, _ := m.View(); !strings.Contains(lines[0], "1 of 3") {
		t.Errorf("no counter: %q", lines[0])
	}
	m, _ = press(m, "tab", "tab")
	_, d := press(m, "y")
	if d == nil || !slices.Equal(d.IDs, []string{"c"}) {
		t.Fatalf("got %+v", d)
	}
	next, _ := m.Key(key("shift+tab"))
	if next.Armed() {
		t.Error("the next prompt takes keys before it was drawn")
	}
	if got := next.CallID(); got != "call-b" {
		t.Errorf("previous of c is %s", got)
	}
}

// U-TUI-4: decided elsewhere, the prompt closes itself.
func TestResolvedElsewhere(t *testing.T) {
	t.Parallel()
	m := open(80, 20, shell("a", "ls"), shell("b", "pwd"))
	m, elsewhere := m.Resolved(assistant.ApprovalResolved{ApprovalID: "a", Decision: "denied", By: "supervisor:x"})
	if !elsewhere || m.CallID() != "call-b" || m.Armed() {
		t.Errorf("elsewhere %v, now %s, armed %v: the next picture has to be drawn first", elsewhere, m.CallID(), m.Armed())
	}
	m, _ = press(m.Drawn(m.Generation()), "y")
	m, elsewhere = m.Resolved(assistant.ApprovalResolved{ApprovalID: "b"})
	if elsewhere || m.Open() {
		t.Errorf("elsewhere %v, open %v", elsewhere, m.Open())
	}
	if _, elsewhere = m.Resolved(assistant.ApprovalResolved{ApprovalID: "zzz"}); elsewhere {
		t.Error("an unknown question was resolved")
	}
}

// B069, P-TERM-3: hostile text in every field, at every size.
func TestHostileTextFits(t *testing.T) {
	t.Parallel()
	bad := "a\x1b[2J\u202e\u009b\rb\x08" + strings.Repeat("界", 30)
	p := assistant.ApprovalPending{ApprovalID: "a", CallID: "c", Tool: bad, Params: map[string]any{bad: bad, "n": []any{bad}, "long": bad + "\n" + bad}, Reason: bad,
		Scope: map[string]any{"target": bad, "target_source": "model", "cwd": bad, "environment": bad}, Commands: []ir.CommandView{{Text: bad, Reason: bad}},
		Preview: []ir.Block{{Kind: ir.BlockDiff, Title: bad, Text: "@@ -1 +1 @@\n-" + bad + "\n+" + bad}, {Kind: ir.BlockTable, Header: []string{bad}, Rows: [][]string{{bad}}}}}
	for width := 2; width < 90; width += 5 {
		for _, height := range []int{1, 2, 3, 5, 20, 80} {
			for _, keys := range [][]string{nil, {"d", "x"}, {"pgdown"}} {
				m, _ := press(open(width, height, p), keys...)
				lines, caret := m.View()
				if len(lines) > height {
					t.Fatalf("%d lines in a pane of %d", len(lines), height)
				}
				if caret != nil && (caret.Row >= height || caret.Column >= width) {
					t.Errorf("caret %v outside of %dx%d", caret, width, height)
				}
				for _, line := range lines {
					if ansi.StringWidth(line) > max(width, 4) {
						t.Errorf("%d cells at width %d: %q", ansi.StringWidth(line), width, line)
					}
					if strings.ContainsAny(line, "\x1b\u202e\r\b\u009b\t") {
						t.Errorf("not filtered: %q", line)
					}
				}
			}
		}
	}
}

// A-APPR-12, A-APPR-14: what an answer for the session would cover is shown before
// it can be given.
func TestTheSessionRuleIsShown(t *testing.T) {
	t.Parallel()
	text := strings.Join(Body(assistant.ApprovalPending{Tool: "read_file", SessionRule: "read_file below docs/"}, 80, theme.Theme{}), "\n")
	if !strings.Contains(text, "for this session: read_file below docs/") {
		t.Errorf("shown:\n%s", text)
	}
}
