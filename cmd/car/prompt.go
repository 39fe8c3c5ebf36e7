package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// stdinMark is the one word that makes car read stdin (D-1, A-CLI-3).
const stdinMark = "-"

// maxPromptData bounds what is taken from stdin or a file.
const maxPromptData = 1 << 20

// prompt is a task as it came on a command line: the person's words, and data
// beside them that is evidence and no instruction.
type prompt struct {
	text string
	data string
}

// readPrompt puts the words of a command line together. `@file` is the file's
// text; `-` is stdin: alone the task itself, beside words untrusted data.
// Without `-` stdin is not touched, so a pipe that nobody closes hangs nothing;
// controlled says that a program steers the run through it.
func (a *app) readPrompt(words []string, controlled bool) (prompt, error) {
	var p prompt
	var texts []string
	piped := false
	for _, word := range words {
		switch {
		case word == stdinMark && piped:
			return p, usageError(errors.New("stdin can be read once: `-` stands twice"))
		case word == stdinMark:
			piped = true
		case strings.HasPrefix(word, "@") && len(words) == 1:
			text, err := a.promptFile(word[1:])
			if err != nil {
				return p, err
			}
			texts = append(texts, text)
		default:
			texts = append(texts, word)
		}
	}
	p.text = strings.TrimSpace(strings.Join(texts, " "))
	if piped {
		data, err := readData(a.io.in, "stdin")
		if err != nil {
			return p, err
		}
		if p.text == "" {
			p.text = strings.TrimSpace(data)
		} else {
			p.data = data
		}
	} else if !controlled && a.stdinWaits() {
		fmt.Fprintln(a.io.err, "car: stdin holds data that is not read; add `-` to give it to the model")
	}
	if p.text == "" {
		return p, usageError(errors.New("there is no task"), `car do "what is to be done"`, `car do --demo`)
	}
	return p, nil
}

func (a *app) promptFile(name string) (string, error) {
	f, err := os.Open(a.absolute(name))
	if err != nil {
		return "", usageError(err, "a task of one word that begins with @ names a file")
	}
	defer f.Close()
	return readData(f, name)
}

// readData takes text and nothing else: bytes that are no text would be a model's
// to guess at.
func readData(r io.Reader, what string) (string, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxPromptData+1))
	switch {
	case err != nil:
		return "", usageError(fmt.Errorf("read %s: %w", what, err))
	case len(data) > maxPromptData:
		return "", usageError(fmt.Errorf("%s holds more than %d bytes", what, maxPromptData), "write it into a file of the project and name the file in the task")
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		return "", usageError(fmt.Errorf("%s is not UTF-8 text", what), "write it into a file of the project and name the file in the task")
	}
	return string(data), nil
}

// stdinWaits reports data on a stdin that nobody asked to read. It reads nothing.
func (a *app) stdinWaits() bool {
	if a.io.in == nil || a.io.inTTY {
		return false
	}
	fi, err := a.io.in.Stat()
	if err != nil {
		return false
	}
	if fi.Mode().IsRegular() {
		return fi.Size() > 0
	}
	return fi.Mode()&os.ModeNamedPipe != 0 && pendingBytes(a.io.in) > 0
}
