package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"car/internal/engine/ir"
)

// Pin is a tool as a server offered it when a person had their first look (T-MCP-9).
type Pin struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// digest stands for all that a server says of a tool.
func (p Pin) digest() string {
	var schema any
	if json.Unmarshal(p.Schema, &schema) != nil {
		schema = string(p.Schema)
	}
	d, err := ir.DigestOf(map[string]any{"name": p.Name, "description": p.Description, "schema": schema})
	if err != nil {
		return "unknown:" + p.Name // an odd schema is a tool that never matches its pin
	}
	return string(d)
}

// Pins are the tools of servers that were seen before, in a file of $CAR_HOME. Safe
// for concurrent use.
type Pins struct {
	path string

	mu  sync.Mutex
	all map[string][]Pin
}

// OpenPins reads the file; none is no pins. A broken one is an error: what is pinned
// decides what a model is told.
func OpenPins(path string) (*Pins, error) {
	p := &Pins{path: path, all: map[string][]Pin{}}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &p.all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; delete it to look at all servers anew", path, err)
	}
	return p, nil
}

// keyOf names a server by all that says what runs or is asked, but not by secrets.
func keyOf(d Definition) string {
	digest, err := ir.DigestOf(map[string]any{"command": d.Program.Command, "args": strings.Join(d.Program.Args, "\x00"), "dir": d.Program.Dir, "url": d.URL})
	if err != nil {
		return d.Slug
	}
	return d.Slug + "@" + string(digest)
}

// of are the tools of a server; nil is a server that nobody met.
func (p *Pins) of(d Definition) []Pin {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.all[keyOf(d)])
}

// put remembers the tools of a server.
func (p *Pins) put(d Definition, pins []Pin) error {
	if len(pins) == 0 {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if other, err := OpenPins(p.path); err == nil { // what another process put meanwhile stays
		for key, list := range other.all {
			if _, ours := p.all[key]; !ours {
				p.all[key] = list
			}
		}
	}
	p.all[keyOf(d)] = pins
	data, err := json.MarshalIndent(p.all, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(p.path, data)
}

// replaceFile writes a file whole or not at all, for its owner alone.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".mcp-pins-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// Changes says how what a server offers differs from its pins, a line a tool.
func Changes(pinned, offered []Pin) []string {
	var lines []string
	find := func(list []Pin, name string) *Pin {
		if i := slices.IndexFunc(list, func(p Pin) bool { return p.Name == name }); i >= 0 {
			return &list[i]
		}
		return nil
	}
	for _, old := range pinned {
		now := find(offered, old.Name)
		switch {
		case now == nil:
			lines = append(lines, "- "+old.Name)
		case now.digest() != old.digest():
			lines = append(lines, "~ "+old.Name+describeChange(old, *now))
		}
	}
	for _, now := range offered {
		if find(pinned, now.Name) == nil {
			lines = append(lines, "+ "+now.Name+": "+now.Description)
		}
	}
	return lines
}

func describeChange(old, now Pin) string {
	text := ""
	if old.Description != now.Description {
		text += fmt.Sprintf("\n    was: %s\n    now: %s", old.Description, now.Description)
	}
	if !bytes.Equal(old.Schema, now.Schema) {
		text += fmt.Sprintf("\n    was: %s\n    now: %s", old.Schema, now.Schema)
	}
	return text
}

// Of are the tools of a server as they are pinned; nil is a server that nobody met.
func (p *Pins) Of(d Definition) []Pin { return p.of(d) }

// Meeting is a look at one server, outside of a session.
type Meeting struct {
	Slug string
	// Pinned is what was seen before, nil for nothing; Offered is what there is now.
	Pinned, Offered []Pin
	// Err says why the server did not start.
	Err error
	// Accept pins what is offered.
	Accept func() error
}

// Meet starts a server, asks for its tools and ends it.
func Meet(ctx context.Context, c Config, d Definition) Meeting {
	c.Servers = nil
	quiet := c
	quiet.Notice = func(string) {}
	m := Meeting{Slug: d.Slug, Pinned: c.Pins.of(d)}
	if m.Err = d.Validate(); m.Err != nil {
		return m
	}
	s := newServer(d, &quiet)
	defer s.close()
	if _, m.Err = s.session(ctx); m.Err == nil {
		m.Offered = s.offered()
		m.Accept = func() error { return c.Pins.put(d, m.Offered) }
	}
	return m
}
