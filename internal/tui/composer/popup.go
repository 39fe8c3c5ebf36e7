package composer

import (
	"strings"
	"unicode/utf8"
)

// popup is the list of completions under the text.
type popup struct {
	word    string // what is completed
	choices []Choice
	at      int
}

func (p popup) open() bool { return len(p.choices) > 0 }

// suggest opens the list that fits what stands before the caret. Slash commands are
// known here; completions of a path are asked for.
func (m Model) suggest() (Model, Act) {
	m.popup = popup{}
	before := m.text.Before()
	if strings.HasPrefix(before, "/") && !strings.ContainsAny(before, " \n") {
		for _, c := range m.commands {
			if strings.HasPrefix(c.Text, before) && c.Text != before {
				m.popup.choices = append(m.popup.choices, c)
			}
		}
		m.popup.word = before
		return m, Act{}
	}
	word := before[strings.LastIndexAny(before, " \n\t")+1:]
	if strings.HasPrefix(word, "@") {
		return m, Act{Ask: word}
	}
	return m, Act{}
}

// Completed shows the completions of a word, if it is still the one before the caret.
func (m Model) Completed(word string, choices []Choice) Model {
	if word != "" && strings.HasSuffix(m.text.Before(), word) {
		m.popup = popup{word: word, choices: choices}
	}
	return m
}

// popupKey moves in the list or takes from it; other keys go on to the text.
func (m Model) popupKey(name string) (Model, bool) {
	n := len(m.popup.choices)
	switch name {
	case "down", "ctrl+n":
		m.popup.at = (m.popup.at + 1) % n
	case "up", "ctrl+p":
		m.popup.at = (m.popup.at + n - 1) % n
	case "tab":
		return m.take(), true
	case "esc":
		m.popup = popup{}
	default:
		return m, false
	}
	return m, true
}

// take replaces the word by the chosen completion.
func (m Model) take() Model {
	for range utf8.RuneCountInString(m.popup.word) {
		m.text = m.text.Backspace()
	}
	choice := m.popup.choices[m.popup.at].Text
	if !strings.HasSuffix(choice, "/") {
		choice += " "
	}
	m.text, m.popup = m.text.Insert(choice), popup{}
	return m
}

// tab completes what stands before the caret, if anything can be.
func (m Model) tab() (Model, Act) {
	m, act := m.suggest()
	if len(m.popup.choices) == 1 {
		m = m.take()
	}
	return m, act
}
