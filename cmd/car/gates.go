package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"car/internal/assistant/project"
	"car/internal/engine/admit"
	"car/internal/engine/gate"
	"car/internal/engine/policy"
	"car/internal/engine/tool"
)

// gateFiles are the files of `.car/` that gates are made of.
type gateFiles struct {
	labels     []gate.LabelFile
	intents    []gate.IntentFile
	production []gate.ProductionFile
}

// gateFilesOf reads them as strictly as every other file: an unknown key, a wrong
// word or a value that means nothing is set-up, and nothing runs (P-GUARD-6).
func gateFilesOf(p *project.Project) (gateFiles, error) {
	var g gateFiles
	var errs []error
	for _, f := range p.Files {
		root := f.Root
		if root == "" { // the person's own hold wherever they work
			root = p.Root
		}
		switch path.Base(f.Name) {
		case "tool-labels.json":
			file := gate.LabelFile{Path: f.Path, Root: root, Trusted: f.Trusted}
			errs = append(errs, decodeGate(f, &file, func() error { return file.Validate() }))
			g.labels = append(g.labels, file)
		case "intent.json":
			file := gate.IntentFile{Path: f.Path, Root: root}
			errs = append(errs, decodeGate(f, &file, func() error { return file.Validate() }))
			g.intents = append(g.intents, file)
		case "production-gates.toml":
			file := gate.ProductionFile{Path: f.Path, Trusted: f.Trusted, Outer: f.Outer}
			lines, err := f.Decode(&file)
			errs = append(errs, err)
			if err == nil {
				errs = append(errs, located(f, lines, file.Validate())...)
			}
			g.production = append(g.production, file)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return g, usageError(err)
	}
	return g, nil
}

// decodeGate reads JSON with no key unknown and nothing behind the end.
func decodeGate(f project.File, into any, validate func() error) error {
	dec := json.NewDecoder(bytes.NewReader(f.Text()))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	if err == nil {
		if _, more := dec.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("text after the end of the object")
		}
	}
	if err != nil {
		return jsonError(f, err, dec.InputOffset())
	}
	if err := validate(); err != nil {
		return &project.Error{File: f.Path, Problem: err.Error(), Err: err}
	}
	return nil
}

// jsonError gives what the decoder says its place. It notices a key that nobody
// knows only at the end of its object, so the key is looked for.
func jsonError(f project.File, err error, offset int64) error {
	text, problem := f.Text(), strings.TrimPrefix(err.Error(), "json: ")
	at := min(int(offset), len(text))
	if name, ok := strings.CutPrefix(problem, "unknown field "); ok {
		at = max(bytes.Index(text, []byte(name)), 0)
	}
	return &project.Error{File: f.Path, Line: 1 + bytes.Count(text[:at], []byte("\n")), Problem: problem, Err: err}
}

// located gives what a room says of a value its file and line.
func located(f project.File, lines map[string]int, problems []error) []error {
	var errs []error
	for _, err := range problems {
		e := &project.Error{File: f.Path, Problem: err.Error(), Err: err}
		for key, line := range lines {
			if len(err.Error()) > len(key) && err.Error()[:len(key)] == key && line > e.Line {
				e.Line = line
			}
		}
		errs = append(errs, e)
	}
	return errs
}

// gates are what sees a whole proposal before any of it runs (G-GATE-2). influences
// stand in the prompt from the beginning and are not trusted.
func (h *house) gates(where tool.Description, list gate.Lister, tools gate.Registry, influences []string) ([]admit.Gate, error) {
	return gate.Standard(gate.Config{
		Root: where.Root, Scratch: where.Scratch, List: list, Tools: tools,
		Labels: h.files.labels, Intents: h.files.intents, Production: h.files.production, Rules: h.rules, Influences: influences,
		Broken: func(v policy.Violation) { h.notice(fmt.Sprintf("%s: %s", v.PolicyName, v.Reason)) },
	})
}
