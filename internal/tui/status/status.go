// Package status is the bottom line of the screen: what the person wants to know at
// any moment without asking (U-TUI-7). Where the terminal is narrow, the words that
// matter least go first; each is shown whole or not at all.
//
// The pane is a value; it imports the conversation's events, block, safe and theme.
package status

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"car/internal/assistant"
	"car/internal/engine/ir"
	"car/internal/tui/block"
	"car/internal/tui/safe"
	"car/internal/tui/theme"
)

// Model is what the line tells. The zero value is an empty line.
type Model struct {
	// Model is the model's name, Session the session's, both as the person knows them.
	Model, Session string
	Tier           ir.Tier
	// Confinement says what children are held by; Gates how many gates are in force.
	Confinement string
	Gates       int
	// Window is the size of the model's context in tokens, 0 where it is not known.
	Window int64
	// Goal is "2/10" in a goal, else empty.
	Goal string
	// State says what goes on, such as "interrupting"; it is the last word to go.
	State string
	// Since is the start of the running turn, zero between turns; Now is the time.
	Since, Now time.Time

	context   int64
	cost      float64
	priced    bool
	estimated bool
}

// Used counts a request.
func (m Model) Used(u assistant.Usage) Model {
	m.context = u.Input + u.CacheRead + u.CacheWrite + u.Output
	m.estimated = u.Estimated
	if u.CostUSD != nil {
		m.cost, m.priced = m.cost+*u.CostUSD, true
	}
	return m
}

// word is a part of the line; the lower keep, the earlier it goes.
type word struct {
	text string
	keep int
	warn bool
}

// View draws the line.
func (m Model) View(width int, th theme.Theme) string {
	words := m.words(th)
	for {
		line := join(words, th)
		if ansi.StringWidth(line) <= width || len(words) == 0 {
			return line
		}
		least := 0
		for i, w := range words {
			if w.keep < words[least].keep {
				least = i
			}
		}
		words = append(words[:least:least], words[least+1:]...)
	}
}

func join(words []word, th theme.Theme) string {
	var parts []string
	for _, w := range words {
		style := th.Dim
		if w.warn {
			style = th.Warn
		}
		parts = append(parts, style.Render(w.text))
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + strings.Join(parts, th.Dim.Render(" "+th.Glyphs.Dot+" "))
}

func (m Model) words(th theme.Theme) []word {
	var words []word
	add := func(keep int, warn bool, text string) {
		if text != "" {
			words = append(words, word{safe.Line(text), keep, warn})
		}
	}
	add(100, false, m.State)
	if !m.Since.IsZero() {
		add(60, false, block.Clock(m.Now.Sub(m.Since)))
	}
	if m.Goal != "" {
		add(80, false, "goal "+m.Goal)
	}
	add(90, false, m.Model)
	if m.Tier != ir.TierUnset {
		add(70, m.Tier == ir.FullAccess, m.Tier.String())
	}
	add(50, false, m.contextWords(th))
	if m.priced {
		add(40, false, fmt.Sprintf("$%.2f", m.cost))
	}
	add(30, false, m.Confinement)
	if m.Gates > 0 {
		add(20, false, block.Count(m.Gates, "gate"))
	}
	add(10, false, m.Session)
	return words
}

func (m Model) contextWords(th theme.Theme) string {
	if m.context == 0 {
		return ""
	}
	about := ""
	if m.estimated {
		about = "~"
	}
	if m.Window > 0 {
		return fmt.Sprintf("%s%s (%d%%)", about, tokens(m.context), m.context*100/m.Window)
	}
	return about + tokens(m.context) + " tokens"
}

func tokens(n int64) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%.1fk", float64(n)/1000)
}
