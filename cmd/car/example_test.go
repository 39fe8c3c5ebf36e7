package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	carexample "car/.car-example"
	"car/internal/assistant/project"
)

// The example can not rot: it is read as a project's own files are, and every file
// of it has its line in the table beside it.
func TestTheExampleGoverns(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	names, err := writeExample(root, true)
	if err != nil {
		t.Fatal(err)
	}
	p, err := project.Load(t.Context(), project.Config{Cwd: root})
	if err != nil {
		t.Fatal(err)
	}
	files, err := gateFilesOf(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(files.intents) != 1 || len(files.labels) != 1 || len(files.production) != 1 || len(p.Rules) != 2 {
		t.Errorf("read %d intents, %d labels, %d production gates, %d rule files; want 1, 1, 1, 2", len(files.intents), len(files.labels), len(files.production), len(p.Rules))
	}
	table, err := os.ReadFile(filepath.Join(moduleRoot, ".car-example", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasPrefix(name, "policies/") {
			name = "policies/*.toml"
		}
		if !bytes.Contains(table, []byte("`"+name+"`")) {
			t.Errorf("%s has no line in .car-example/README.md", name)
		}
	}
}

// G-INTENT-1: the schema that is shipped says what the reader takes.
func TestTheIntentSchemaIsTheReaders(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(moduleRoot, ".car-example", "intent.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("car:///intent.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("car:///intent.json")
	if err != nil {
		t.Fatal(err)
	}
	example, err := fs.ReadFile(carexample.Folder, "intent.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text string
		ok   bool
	}{
		"the example":             {string(example), true},
		"every capability":        {`{"intent":{"forbidden_capabilities":["network","delete","credential","publish","deploy","install","git_push","outside_root"]}}`, true},
		"an unknown key":          {`{"intent":{"goals":"x"}}`, false},
		"an unknown capability":   {`{"intent":{"forbidden_capabilities":["teleport"]}}`, false},
		"an unknown disposition":  {`{"intent":{},"on_untainted_drift":"maybe"}`, false},
		"an unknown key outside":  {`{"intent":{},"drift":"block"}`, false},
		"a word instead of words": {`{"intent":{"allowed_tools":"shell"}}`, false},
	} {
		instance, err := jsonschema.UnmarshalJSON(strings.NewReader(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if got := schema.Validate(instance) == nil; got != c.ok {
			t.Errorf("%s: the schema says %v, want %v", name, got, c.ok)
		}
		if got := readsIntent(t, c.text); got != c.ok {
			t.Errorf("%s: the reader says %v, want %v", name, got, c.ok)
		}
	}
}

// readsIntent puts a text where a project has its intent and reads it.
func readsIntent(t *testing.T, text string) bool {
	t.Helper()
	if !json.Valid([]byte(text)) {
		t.Fatalf("%s is no JSON", text)
	}
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, carFolder), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, carFolder, "intent.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := project.Load(t.Context(), project.Config{Cwd: root})
	if err != nil {
		t.Fatal(err)
	}
	_, err = gateFilesOf(p)
	return err == nil
}
