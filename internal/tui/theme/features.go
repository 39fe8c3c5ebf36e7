package theme

import (
	"io"
	"strings"

	"github.com/muesli/termenv"
)

// Features is what the environment says about the terminal and its person.
type Features struct {
	Profile termenv.Profile
	// Dumb terminals take lines and nothing else (U-TUI-10).
	Dumb bool
	// Accessible asks for plain sequential lines (U-TUI-11).
	Accessible bool
	// ASCII says that the terminal lacks the glyphs of Unicode.
	ASCII bool
	// Reflows says that the terminal breaks its lines anew when its width changes;
	// nearly all do, and what stands on such a screen moves.
	Reflows bool
	// Multiplexed says that the terminal is inside tmux or screen, which tell of a
	// change of size up to a quarter of a second after it was made.
	Multiplexed bool
}

// Detect reads NAME=value pairs. Where a name is given twice the last one counts.
func Detect(environ []string) Features {
	env := environment(environ)
	out := termenv.NewOutput(io.Discard, termenv.WithEnvironment(env), termenv.WithTTY(true))
	term := env.Getenv("TERM")
	f := Features{
		Profile:    out.EnvColorProfile(),
		Dumb:       term == "" || term == "dumb",
		Accessible: env.Getenv("CAR_ACCESSIBLE") != "" && env.Getenv("CAR_ACCESSIBLE") != "0",
		ASCII:      term == "linux" || !utf8Locale(env),
		Reflows:    term != "linux" && !strings.HasPrefix(term, "vt") && env.Getenv("XTERM_VERSION") == "" && env.Getenv("STY") == "",
	}
	f.Multiplexed = env.Getenv("TMUX") != "" || env.Getenv("STY") != "" || strings.HasPrefix(term, "tmux") || strings.HasPrefix(term, "screen")
	if f.Dumb {
		f.Profile = termenv.Ascii
	}
	return f
}

// utf8Locale is false only where a locale names another character set: the many
// containers without a locale are driven from terminals that speak UTF-8.
func utf8Locale(env environment) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env.Getenv(name)); v != "" {
			_, charset, named := strings.Cut(v, ".")
			return !named || strings.HasPrefix(strings.ReplaceAll(charset, "-", ""), "utf8")
		}
	}
	return true
}

// environment is NAME=value pairs as termenv wants to read them.
type environment []string

// Environ returns the pairs.
func (e environment) Environ() []string { return e }

// Getenv returns a value, empty where there is none.
func (e environment) Getenv(name string) string {
	for i := len(e) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(e[i], name+"="); ok {
			return v
		}
	}
	return ""
}
