package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// edit opens the person's own editor on a text and returns what they made of it.
// The setting may hold arguments, as in "code --wait".
func (a *app) edit(ctx context.Context, text string) (string, error) {
	f, err := os.CreateTemp(a.env.temp, "car-*.md")
	if err != nil {
		return text, err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return text, err
	}
	words := append(strings.Fields(a.env.editor), f.Name())
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.io.in, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return text, fmt.Errorf("%s: %w", words[0], err)
	}
	changed, err := os.ReadFile(f.Name())
	if err != nil {
		return text, err
	}
	return string(changed), nil
}
