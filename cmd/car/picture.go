package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"car/internal/assistant"
	"car/internal/assistant/llm"
)

// maxPicture bounds what is read of a file: more is refused by the conversation.
const maxPicture = 6 << 20

// readPictures reads the files of --image, or takes addresses as they are (A-SVC-6).
func readPictures(names []string) ([]llm.Image, error) {
	var list []llm.Image
	for _, name := range names {
		if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
			list = append(list, llm.Image{URL: name})
			continue
		}
		data, err := readPicture(name)
		if err != nil {
			return nil, usageError(fmt.Errorf("picture %s: %w", name, err))
		}
		list = append(list, llm.Image{Data: data, MediaType: llm.ImageType(data)})
	}
	return list, nil
}

func readPicture(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("it is no file")
	}
	return io.ReadAll(io.LimitReader(f, maxPicture))
}

// attachPictures reads the pictures that the words of a message name: @path/x.png, or
// an absolute path as terminals paste it when a file is dropped on them (U-TUI-5).
func (s *session) attachPictures(_ context.Context, in *assistant.Input) error {
	names := picturesIn(in.Text, s.house.project.Cwd, s.house.app.env.home)
	if len(names) == 0 {
		return nil
	}
	list, err := readPictures(names)
	if err != nil {
		return err
	}
	in.Images = append(in.Images, list...)
	return nil
}

// picturesIn lists the pictures that a text names, as absolute paths. A path that is
// not marked with @ counts only where there is such a file.
func picturesIn(text, cwd, home string) []string {
	var names []string
	for _, word := range strings.Fields(text) {
		name, marked := strings.CutPrefix(strings.Trim(word, "\"'"), "@")
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = filepath.Join(home, rest)
		}
		switch strings.ToLower(filepath.Ext(name)) {
		case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		default:
			continue
		}
		if !filepath.IsAbs(name) {
			if !marked {
				continue
			}
			name = filepath.Join(cwd, name)
		}
		if _, err := os.Stat(name); err != nil && !marked {
			continue
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
