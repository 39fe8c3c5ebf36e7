package composer

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"car/internal/tui/editor"
)

// Model is the state of the pane. The zero value is usable; it is a value.
type Model struct {
	text  editor.Buffer
	width int // of the rows, set by Resize

	// history is what was sent, oldest first; at counts back from its end while the
	// person looks through it, and draft is what they had typed before.
	history []string
	at      int
	draft   editor.Buffer
	search  *search

	queue []string

	commands []Choice
	popup    popup
}

// Choice is something that can be completed to.
type Choice struct{ Text, Help string }

// Act is what a key asked for.
type Act struct {
	// Send is a text to send, Ask the word before the caret whose completions are
	// wanted. Both are empty for a key that only edited.
	Send, Ask string
	// Edit asks for an external editor.
	Edit bool
}

// Offer sets the slash commands that can be completed.
func (m Model) Offer(commands []Choice) Model {
	m.commands = commands
	return m
}

// Remember sets the history, oldest first.
func (m Model) Remember(history []string) Model {
	m.history = slices.Clone(history)
	return m
}

// Resize gives the pane its width.
func (m Model) Resize(width int) Model {
	m.width = max(width-promptWidth, 1)
	return m
}

// Text is what has been typed.
func (m Model) Text() string { return m.text.Text() }

// Empty reports whether nothing is typed.
func (m Model) Empty() bool { return m.text.Empty() && m.search == nil }

// Set replaces the text.
func (m Model) Set(text string) Model { return m.fill(editor.Buffer{}, text) }

// Restore puts texts that were not sent before what is typed now.
func (m Model) Restore(texts []string) Model {
	if len(texts) == 0 {
		return m
	}
	if now := m.Text(); now != "" {
		texts = append(slices.Clone(texts), now)
	}
	return m.Set(strings.Join(texts, "\n"))
}

// Clear drops the text.
func (m Model) Clear() Model {
	m.text, m.at, m.search, m.popup = editor.Buffer{}, 0, nil, popup{}
	return m
}

// Large pastes fold to a chip.
const (
	chipLines = 8
	chipRunes = 1000
)

// Paste inserts a pasted text as one edit (B071).
func (m Model) Paste(text string) Model {
	m.popup = popup{}
	if m.search != nil {
		return m
	}
	return m.fill(m.text, text)
}

func (m Model) fill(into editor.Buffer, text string) Model {
	if strings.Count(text, "\n")+strings.Count(text, "\r") > chipLines || len(text) > chipRunes {
		m.text = into.InsertChip(text)
	} else {
		m.text = into.Insert(text)
	}
	m.at = 0
	return m
}

// Key takes a key.
func (m Model) Key(k tea.KeyMsg) (Model, Act) {
	if k.Paste {
		return m.Paste(string(k.Runes)), Act{}
	}
	name, typed := k.String(), string(k.Runes)
	if m.search != nil {
		return m.searchKey(name, typed)
	}
	if m.popup.open() {
		if next, done := m.popupKey(name); done {
			return next, Act{}
		}
	}
	switch name {
	case "enter":
		return m.enter()
	case "tab":
		return m.tab()
	case "ctrl+r":
		m.search, m.popup = &search{before: m.text}, popup{}
		return m, Act{}
	case "ctrl+g":
		return m, Act{Edit: true}
	case "ctrl+p":
		return m.back(1), Act{}
	case "ctrl+n":
		return m.back(-1), Act{}
	}
	if k.Type == tea.KeySpace {
		typed = " "
	}
	text, known := m.text.Key(name, typed, m.width)
	switch {
	case known:
		m.text = text
	case name == "up":
		return m.back(1), Act{}
	case name == "down":
		return m.back(-1), Act{}
	default:
		return m, Act{}
	}
	return m.suggest()
}

// enter sends, unless a backslash says that the text goes on.
func (m Model) enter() (Model, Act) {
	if strings.HasSuffix(m.text.Before(), `\`) {
		m.text = m.text.Backspace().Insert("\n")
		return m, Act{}
	}
	text := m.Text()
	if strings.TrimSpace(text) == "" {
		return m, Act{}
	}
	m = m.Clear()
	if n := len(m.history); n == 0 || m.history[n-1] != text {
		m.history = append(slices.Clone(m.history), text)
	}
	return m, Act{Send: text}
}

// back moves through the history, by 1 to older texts, by -1 to newer ones.
func (m Model) back(by int) Model {
	to := m.at + by
	if to < 0 || to > len(m.history) {
		return m
	}
	if m.at == 0 {
		m.draft = m.text
	}
	if to == 0 {
		m.text, m.at = m.draft, 0
		return m
	}
	m = m.fill(editor.Buffer{}, m.history[len(m.history)-to])
	m.at = to
	return m
}

// Enqueue shows a message that waits for the turn to end.
func (m Model) Enqueue(text string) Model {
	m.queue = append(slices.Clone(m.queue), text)
	return m
}

// Dequeue takes the message that has waited longest: its turn begins.
func (m Model) Dequeue() (Model, string, bool) {
	if len(m.queue) == 0 {
		return m, "", false
	}
	text := m.queue[0]
	m.queue = slices.Clone(m.queue[1:])
	return m, text, true
}

// Forget takes a message that could not be sent off those that wait.
func (m Model) Forget(text string) Model {
	for i := len(m.queue) - 1; i >= 0; i-- {
		if m.queue[i] == text {
			m.queue = slices.Delete(slices.Clone(m.queue), i, i+1)
			return m
		}
	}
	return m
}

// Escapes reports whether the escape key is the pane's: a list or a search is open.
func (m Model) Escapes() bool { return m.popup.open() || m.search != nil }

// Waiting returns the messages that wait.
func (m Model) Waiting() []string { return slices.Clone(m.queue) }

// Returned puts messages which were not delivered back into the text, before what is
// typed now; nothing waits any more (B073).
func (m Model) Returned(texts []string) Model {
	m.queue = nil
	return m.Restore(texts)
}
