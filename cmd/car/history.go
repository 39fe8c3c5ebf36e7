package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
)

// historyKept bounds what earlier sessions' inputs are offered from.
const historyKept = 500

// history is what a person sent in earlier sessions, one JSON string a line, 0600:
// it is theirs and leaves the machine with nothing.
type history struct {
	path  string
	texts []string
}

// openHistory reads what is there. A file that can not be read is no reason not to
// talk; nothing is offered then.
func (a *app) openHistory(home string) *history {
	h := &history{path: filepath.Join(home, "history.jsonl")}
	data, err := os.ReadFile(h.path)
	if err != nil {
		return h
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxPromptData)
	for lines.Scan() {
		var text string
		if json.Unmarshal(lines.Bytes(), &text) == nil {
			h.texts = append(h.texts, text)
		}
	}
	if n := len(h.texts); n > historyKept {
		h.texts = h.texts[n-historyKept:]
	}
	return h
}

// remember appends a text; one write a line keeps several processes apart.
func (h *history) remember(_ context.Context, text string) {
	line, err := json.Marshal(text)
	if err != nil {
		return
	}
	f, err := os.OpenFile(h.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return // a history that can not be kept is worth no word in mid-sentence
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}
