package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// childMark is set in the environment of everything that `car` starts. A `car`
// that finds it refuses to work: what governs can not be run by what it governs (law 8).
const childMark = "CAR_CHILD"

// environment is everything that the surroundings of the process say. It is read
// once, here; the rooms below take values.
type environment struct {
	home    string
	carHome string
	cwd     string
	temp    string
	uid     string
	// term and noColor decide what a terminal may be sent (NO_COLOR, TERM=dumb).
	term       string
	noColor    bool
	accessible bool
	editor     string
	shell      string
	child      bool
	keys       providerKeys
	// vars is the whole environment as NAME=value; what children get of it is the substrate's rule.
	vars []string
}

// providerKeys are the settings that make a provider by themselves (A-LLM-8).
type providerKeys struct {
	anthropicKey, anthropicToken, anthropicURL string
	openaiKey, openaiURL                       string
}

// errNoHome asks for the one setting that can not be guessed.
var errNoHome = errors.New("neither HOME nor CAR_HOME is set, so there is no place for sessions")

func readEnvironment() (environment, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return environment{}, usageError(err, "the working directory is gone; cd somewhere else")
	}
	e := environment{
		cwd: cwd, temp: os.TempDir(), uid: strconv.Itoa(os.Getuid()),
		term: os.Getenv("TERM"), noColor: os.Getenv("NO_COLOR") != "",
		accessible: os.Getenv("CAR_ACCESSIBLE") == "1",
		editor:     firstOf(os.Getenv("VISUAL"), os.Getenv("EDITOR")),
		shell:      os.Getenv("SHELL"),
		child:      os.Getenv(childMark) != "",
		keys: providerKeys{
			anthropicKey: strings.TrimSpace(os.Getenv("ANTHROPIC_API_KEY")), anthropicToken: strings.TrimSpace(os.Getenv("ANTHROPIC_AUTH_TOKEN")),
			anthropicURL: strings.TrimSpace(os.Getenv("ANTHROPIC_BASE_URL")),
			openaiKey:    strings.TrimSpace(os.Getenv("OPENAI_API_KEY")), openaiURL: strings.TrimSpace(os.Getenv("OPENAI_BASE_URL")),
		},
		vars: os.Environ(),
	}
	// The home may be unknown (a service user); only what needs it will say so.
	e.home, _ = os.UserHomeDir()
	switch dir := os.Getenv("CAR_HOME"); {
	case dir != "":
		if e.carHome, err = filepath.Abs(dir); err != nil {
			return environment{}, usageError(err)
		}
	case e.home != "":
		e.carHome = filepath.Join(e.home, ".car")
	}
	return e, nil
}

// check refuses keys that no header can carry: a line break in one is a file that
// was pasted badly, and a server would only be asked in vain (U-CLI-4).
func (k providerKeys) check() error {
	for name, value := range map[string]string{"ANTHROPIC_API_KEY": k.anthropicKey, "ANTHROPIC_AUTH_TOKEN": k.anthropicToken, "OPENAI_API_KEY": k.openaiKey} {
		if strings.ContainsFunc(value, func(r rune) bool { return unicode.IsControl(r) }) {
			return usageError(fmt.Errorf("%s holds a control character, such as a line break: set it again without", name))
		}
	}
	return nil
}

// state returns $CAR_HOME, made 0700, or says which setting is missing.
func (e environment) state() (string, error) {
	if e.carHome == "" {
		return "", usageError(errNoHome, "CAR_HOME=/some/folder car …")
	}
	if err := os.MkdirAll(e.carHome, 0o700); err != nil {
		return "", usageError(err, "CAR_HOME=/some/folder car …")
	}
	return e.carHome, nil
}

func firstOf(values ...string) string {
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// lookup is the value of a variable, empty when it is not set.
func (e environment) lookup(name string) string {
	for _, v := range e.vars {
		if n, value, ok := strings.Cut(v, "="); ok && n == name {
			return value
		}
	}
	return ""
}
