package main

import (
	"fmt"
	"io"
	"os"
	"strings"

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
			return nil, usageError(fmt.Errorf("--image %s: %w", name, err))
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
