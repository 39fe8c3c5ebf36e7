package theme

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Theme is the look of a screen. The zero value is not usable; make one with New.
// It is read-only after that and safe for concurrent use.
type Theme struct {
	// Profile is how many colours the terminal shows; termenv.Ascii is none.
	Profile termenv.Profile
	// Dark says that the background is dark.
	Dark   bool
	Glyphs Glyphs

	// Accent marks what belongs to the person: the prompt, a selection.
	Accent lipgloss.Style
	// Dim is for what may be overlooked; Strong for what may not.
	Dim, Strong lipgloss.Style
	// Good, Warn and Bad colour marks and words of an outcome.
	Good, Warn, Bad lipgloss.Style
	// Added, Removed and Hunk colour a diff; the two Word styles mark what changed within a line.
	Added, Removed, Hunk, AddedWord, RemovedWord lipgloss.Style
	// Key marks a key that can be pressed.
	Key lipgloss.Style
	// Off is for a key that can not be pressed yet.
	Off lipgloss.Style
}

// Options make a Theme.
type Options struct {
	Profile termenv.Profile
	Dark    bool
	// ASCII keeps to glyphs that every terminal has.
	ASCII bool
}

// New makes a theme. It neither reads the environment nor asks the terminal.
func New(o Options) Theme {
	r := lipgloss.NewRenderer(io.Discard, termenv.WithProfile(o.Profile))
	r.SetColorProfile(o.Profile)
	r.SetHasDarkBackground(o.Dark)
	fg := func(c string) lipgloss.Style { return r.NewStyle().Foreground(lipgloss.Color(c)) }
	t := Theme{
		Profile: o.Profile, Dark: o.Dark, Glyphs: unicodeGlyphs,
		Accent: fg("4"), Dim: r.NewStyle().Faint(true), Strong: r.NewStyle().Bold(true),
		Good: fg("2"), Warn: fg("3"), Bad: fg("1"),
		Added: fg("2"), Removed: fg("1"), Hunk: fg("6"),
		AddedWord: fg("2").Bold(true).Underline(true), RemovedWord: fg("1").Bold(true).Underline(true),
		Key: fg("4").Bold(true), Off: r.NewStyle().Faint(true),
	}
	if o.Dark {
		t.Accent, t.Key = fg("12"), fg("12").Bold(true)
	}
	if o.ASCII {
		t.Glyphs = asciiGlyphs
	}
	return t
}

// Plain is a theme without colour, for pipes, goldens and NO_COLOR.
func Plain() Theme { return New(Options{Profile: termenv.Ascii, Dark: true}) }
