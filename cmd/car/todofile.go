package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"car/internal/engine/tool"
)

// todoName is a session's list within its folder.
const todoName = "todo.json"

// todoList is a session's list. It is kept in the session's folder, so that it
// outlasts summaries of the conversation and restarts (A-CTX-3).
type todoList struct {
	path string // empty keeps nothing

	mu    sync.Mutex
	items []tool.Todo
}

// openTodos reads the list of a session; one that was never written is empty.
func openTodos(dir string) (*todoList, error) {
	l := &todoList{path: filepath.Join(dir, todoName)}
	data, err := os.ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &l.items)
	}
	if err != nil {
		return nil, fmt.Errorf("the session's list %s cannot be read: %w; move it away to go on without it", l.path, err)
	}
	return l, nil
}

// Replace takes the new list; what cannot be kept changes nothing.
func (l *todoList) Replace(items []tool.Todo) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.keep(items); err != nil {
		return fmt.Errorf("the list was not changed: %w", err)
	}
	l.items = slices.Clone(items)
	return nil
}

// keep writes the list beside the old one and then in its place.
func (l *todoList) keep(items []tool.Todo) error {
	if l.path == "" {
		return nil
	}
	data, err := json.Marshal(items)
	if err != nil {
		return err
	}
	if err := os.WriteFile(l.path+".tmp", append(data, '\n'), 0o600); err != nil {
		return err
	}
	return os.Rename(l.path+".tmp", l.path)
}

// List returns a copy.
func (l *todoList) List() []tool.Todo {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.items)
}
