package transcript

import (
	"github.com/charmbracelet/glamour/ansi"
	"github.com/muesli/termenv"

	"car/internal/tui/theme"
)

// style is how Markdown looks: no margins and no colour of its own for prose, so
// that text is as narrow in bytes as it can be and fits every scheme. Without
// colour the marks of the source stay, since meaning never hangs on colour alone.
func style(th theme.Theme) ansi.StyleConfig {
	s := ansi.StyleConfig{
		Item:                  ansi.StylePrimitive{BlockPrefix: th.Glyphs.Bullet + " "},
		Enumeration:           ansi.StylePrimitive{BlockPrefix: ". "},
		Task:                  ansi.StyleTask{Ticked: th.Glyphs.Done + " ", Unticked: th.Glyphs.Open + " "},
		BlockQuote:            ansi.StyleBlock{Indent: ptr(uint(1)), IndentToken: ptr(th.Glyphs.Bar + " ")},
		List:                  ansi.StyleList{LevelIndent: 2},
		DefinitionDescription: ansi.StylePrimitive{BlockPrefix: "\n  "},
		HorizontalRule:        ansi.StylePrimitive{Format: "\n* * *\n"},
		ImageText:             ansi.StylePrimitive{Format: "image: {{.text}}"},
	}
	if th.Profile == termenv.Ascii {
		s.H1.Prefix, s.H2.Prefix, s.H3.Prefix = "# ", "## ", "### "
		s.H4.Prefix, s.H5.Prefix, s.H6.Prefix = "#### ", "##### ", "###### "
		s.Strong = ansi.StylePrimitive{BlockPrefix: "**", BlockSuffix: "**"}
		s.Emph = ansi.StylePrimitive{BlockPrefix: "*", BlockSuffix: "*"}
		s.Strikethrough = ansi.StylePrimitive{BlockPrefix: "~~", BlockSuffix: "~~"}
		s.Code = ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Prefix: "`", Suffix: "`"}}
		return s
	}
	accent := "4"
	code := "github"
	if th.Dark {
		accent, code = "12", "github-dark"
	}
	s.Heading = ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Bold: ptr(true)}}
	s.H1 = ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: ptr(accent), Underline: ptr(true)}}
	s.H2 = ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: ptr(accent)}}
	s.Strong = ansi.StylePrimitive{Bold: ptr(true)}
	s.Emph = ansi.StylePrimitive{Italic: ptr(true)}
	s.Strikethrough = ansi.StylePrimitive{CrossedOut: ptr(true)}
	s.Link = ansi.StylePrimitive{Underline: ptr(true)}
	s.LinkText = ansi.StylePrimitive{Color: ptr(accent)}
	s.Code = ansi.StyleBlock{StylePrimitive: ansi.StylePrimitive{Color: ptr("6")}}
	s.CodeBlock = ansi.StyleCodeBlock{Theme: code}
	return s
}

// formatter is chroma's for the terminal's colours.
func formatter(p termenv.Profile) string {
	switch p {
	case termenv.TrueColor:
		return "terminal16m"
	case termenv.ANSI256:
		return "terminal256"
	default:
		return "terminal16"
	}
}

func ptr[T any](v T) *T { return &v }
