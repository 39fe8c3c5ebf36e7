package composer

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"car/internal/tui/theme"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var named = map[string]tea.KeyMsg{
	"enter": {Type: tea.KeyEnter}, "alt+enter": {Type: tea.KeyEnter, Alt: true}, "ctrl+j": {Type: tea.KeyCtrlJ}, "up": {Type: tea.KeyUp}, "down": {Type: tea.KeyDown},
	"tab": {Type: tea.KeyTab}, "esc": {Type: tea.KeyEsc}, "ctrl+r": {Type: tea.KeyCtrlR}, "backspace": {Type: tea.KeyBackspace}, "space": {Type: tea.KeySpace, Runes: []rune(" ")},
	"ctrl+g": {Type: tea.KeyCtrlG}, "left": {Type: tea.KeyLeft}, "ctrl+a": {Type: tea.KeyCtrlA},
}

// press presses named keys and types the rest rune by rune; it returns what was asked for.
func press(m Model, keys ...string) (Model, []Act) {
	var acts []Act
	one := func(k tea.KeyMsg) {
		var a Act
		if m, a = m.Key(k); a != (Act{}) {
			acts = append(acts, a)
		}
	}
	for _, k := range keys {
		if msg, ok := named[k]; ok {
			one(msg)
			continue
		}
		for _, r := range k {
			if r == ' ' {
				one(named["space"])
				continue
			}
			one(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
		}
	}
	return m, acts
}

func fresh() Model {
	return Model{}.Resize(80).Offer([]Choice{{"/help", "what car can do"}, {"/history", ""}, {"/quit", "leave"}}).
		Remember([]string{"fix the tests", "first\nsecond", "explain main.go"})
}

// U-TUI-5: Enter sends; ctrl+j, alt+enter and a trailing backslash make a line.
func TestEnterAndNewLines(t *testing.T) {
	t.Parallel()
	m, acts := press(fresh(), "one", "ctrl+j", "two", "alt+enter", `three\`, "enter", "four", "enter")
	if diff := cmp.Diff([]Act{{Send: "one\ntwo\nthree\nfour"}}, acts); diff != "" {
		t.Error(diff)
	}
	if !m.Empty() {
		t.Errorf("%q is left", m.Text())
	}
	if _, acts = press(m, "enter", "space", "ctrl+j", "enter"); len(acts) > 0 {
		t.Errorf("nothing was sent as %v", acts)
	}
}

// B071: a paste is one edit, sends nothing, and is sent whole; what is in it is no key.
func TestB071Paste(t *testing.T) {
	t.Parallel()
	var pasted strings.Builder
	for i := range 3000 {
		fmt.Fprintf(&pasted, "line %d\twith a tab\r\n", i)
	}
	pasted.WriteString("\x1b[201~\rrm -rf /\r\x1b[A")
	m, acts := fresh().Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(pasted.String()), Paste: true})
	if acts != (Act{}) {
		t.Fatalf("the paste did %+v", acts)
	}
	lines, caret := m.View(80, 10, theme.Plain(), "")
	if len(lines) != 1 || !strings.Contains(lines[0], "[3003 lines, ") || caret.Row != 0 {
		t.Errorf("got %q", lines)
	}
	_, sent := press(m, "enter")
	want := strings.ReplaceAll(strings.ReplaceAll(pasted.String(), "\r\n", "\n"), "\r", "\n")
	want = strings.ReplaceAll(want, "\x1b", `\x1b`)
	if len(sent) != 1 || sent[0].Send != want {
		t.Fatalf("sent %d texts, want the paste whole", len(sent))
	}
}

func TestSmallPasteStaysText(t *testing.T) {
	t.Parallel()
	m := fresh().Paste("two\r\nlines")
	if got, _ := press(m, "backspace"); got.Text() != "two\nline" {
		t.Errorf("got %q", got.Text())
	}
}

// U-TUI-5: history with up and down; what was typed comes back.
func TestHistory(t *testing.T) {
	t.Parallel()
	m, _ := press(fresh(), "dra", "ft", "up")
	if m.Text() != "explain main.go" {
		t.Fatalf("up shows %q", m.Text())
	}
	m, _ = press(m, "up", "up", "up", "up")
	if m.Text() != "fix the tests" {
		t.Errorf("at its start the history shows %q", m.Text())
	}
	m, _ = press(m, "down", "down", "down")
	if m.Text() != "draft" {
		t.Errorf("back at the end: %q", m.Text())
	}
	m, _ = press(m, "enter", "up")
	if m.Text() != "draft" {
		t.Errorf("what was sent is not in the history: %q", m.Text())
	}
}

// U-TUI-5: ctrl+r looks back for a text.
func TestSearch(t *testing.T) {
	t.Parallel()
	m, _ := press(fresh(), "dra", "ctrl+r", "MAIN")
	if lines, _ := m.View(80, 5, theme.Plain(), ""); !strings.Contains(strings.Join(lines, "|"), "explain main.go|  history: MAIN") {
		t.Errorf("got %q", lines)
	}
	if taken, acts := press(m, "enter"); taken.Text() != "explain main.go" || len(acts) > 0 {
		t.Errorf("enter took %q and did %v", taken.Text(), acts)
	}
	if back, _ := press(m, "esc"); back.Text() != "dra" {
		t.Errorf("esc left %q", back.Text())
	}
	again, _ := press(fresh(), "ctrl+r", "s", "ctrl+r")
	if again.Text() != "fix the tests" {
		t.Errorf("the second s from the end is %q", again.Text())
	}
	none, _ := press(fresh(), "ctrl+r", "zzz")
	if lines, _ := none.View(80, 5, theme.Plain(), ""); !strings.Contains(strings.Join(lines, "|"), "not in the history: zzz") {
		t.Errorf("got %q", lines)
	}
}

// U-TUI-5, U-TUI-8: slash commands are offered and completed.
func TestCompletion(t *testing.T) {
	t.Parallel()
	m, _ := press(fresh(), "/h")
	if lines, _ := m.View(80, 9, theme.Plain(), ""); !strings.Contains(strings.Join(lines, "|"), "/help         what car can do|  /history") {
		t.Errorf("got %q", lines)
	}
	m, _ = press(m, "down", "tab")
	if m.Text() != "/history " {
		t.Errorf("took %q", m.Text())
	}
	only, acts := press(fresh(), "/q", "tab", "enter")
	if only.Text() != "" || len(acts) != 1 || acts[0].Send != "/quit " {
		t.Errorf("did %+v", acts)
	}
	at, acts := press(fresh(), "see @ma")
	if len(acts) == 0 || acts[len(acts)-1].Ask != "@ma" {
		t.Fatalf("asked for %+v", acts)
	}
	at = at.Completed("@ma", []Choice{{Text: "@main.go"}, {Text: "@map/"}})
	if took, _ := press(at, "tab"); took.Text() != "see @main.go " {
		t.Errorf("took %q", took.Text())
	}
	if took, _ := press(at, "up", "tab"); took.Text() != "see @map/" {
		t.Errorf("took %q", took.Text())
	}
	late, _ := press(at, "x")
	if late = late.Completed("@ma", []Choice{{Text: "@main.go"}}); late.popup.open() {
		t.Error("completions of an older word are shown")
	}
}

// U-TUI-6, B073: messages wait in order and come back; none is lost.
func TestQueue(t *testing.T) {
	t.Parallel()
	m := fresh().Enqueue("first").Enqueue("second\nlines").Enqueue("third").Enqueue("fourth")
	lines, _ := m.View(80, 9, theme.Plain(), "hint")
	if diff := cmp.Diff([]string{"❯ hint", "  waiting: first", "  waiting: second (+1 lines)", "  waiting: 2 more"}, lines); diff != "" {
		t.Error(diff)
	}
	m, text, ok := m.Dequeue()
	if text != "first" || !ok || len(m.Waiting()) != 3 {
		t.Errorf("first out is %q", text)
	}
	m, _ = press(m, "typed")
	m = m.Returned(m.Waiting())
	if m.Text() != "second\nlines\nthird\nfourth\ntyped" || len(m.Waiting()) != 0 {
		t.Errorf("after an interrupt the editor holds %q", m.Text())
	}
}

func TestExternalEditorIsAsked(t *testing.T) {
	t.Parallel()
	if _, acts := press(fresh(), "x", "ctrl+g"); len(acts) != 1 || !acts[0].Edit {
		t.Errorf("did %+v", acts)
	}
}

func TestViewGolden(t *testing.T) {
	t.Parallel()
	long, _ := press(fresh(), "a rather long message that does not fit on one row of the narrower screens and has to be folded at its spaces", "ctrl+j", "界 and a second line")
	slash, _ := press(fresh(), "/")
	for name, m := range map[string]Model{"empty": fresh(), "long": long, "slash": slash, "queue": long.Enqueue("and then the docs")} {
		for _, width := range []int{20, 40, 80, 120} {
			lines, caret := m.Resize(width).View(width, 12, theme.Plain(), "ask, or / for commands")
			got := strings.Join(lines, "\n") + fmt.Sprintf("\n-- caret %d,%d\n", caret.Row, caret.Column)
			file := filepath.Join("testdata", fmt.Sprintf("%s-%d.golden", name, width))
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
}

// P-TERM-3: at every size the pane fits and the caret is in it.
func TestFits(t *testing.T) {
	t.Parallel()
	m, _ := press(fresh(), strings.Repeat("界 words ", 40), "ctrl+j", "/h")
	m = m.Enqueue(strings.Repeat("x", 300)).Paste(strings.Repeat("y\n", 40))
	for width := 1; width < 130; width += 4 {
		for height := range 14 {
			lines, caret := m.Resize(width).View(width, height, theme.Plain(), "hint")
			if len(lines) > height {
				t.Fatalf("%d lines where %d were asked", len(lines), height)
			}
			if height > 0 && (caret.Row >= len(lines) || caret.Column >= width) {
				t.Errorf("caret %+v in %dx%d", caret, width, height)
			}
			for _, line := range lines {
				if ansi.StringWidth(line) > width {
					t.Errorf("%d cells at width %d: %q", ansi.StringWidth(line), width, line)
				}
			}
		}
	}
}
