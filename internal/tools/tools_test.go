package tools

import (
	"os"
	"slices"
	"strings"
	"testing"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/scaffold"
)

type noEvents struct{}

func (noEvents) Query(tool.EventQuery) ([]tool.Event, int) { return nil, 0 }
func (noEvents) Kinds() []string                           { return nil }

type noTodos struct{}

func (noTodos) Replace([]tool.Todo) error { return nil }
func (noTodos) List() []tool.Todo         { return nil }

// T-SET-2: always the same hands, and those whose binding is there; sorted.
func TestWhatIsBound(t *testing.T) {
	t.Parallel()
	bare, err := New(tool.Bindings{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"calculate", "edit_file", "find_files", "grep_files", "list_dir", "read_file", "write_file"}
	if !slices.Equal(bare.Names(), want) {
		t.Errorf("bare: %v", bare.Names())
	}
	all, err := New(tool.Bindings{Events: noEvents{}, Todos: noTodos{}, Describe: tool.Description{Dialect: "bash"}})
	if err != nil {
		t.Fatal(err)
	}
	want = []string{"calculate", "edit_file", "events_query", "find_files", "grep_files", "list_dir", "read_file", "shell", "shell_kill", "shell_output", "todo_write", "write_file"}
	if !slices.Equal(all.Names(), want) {
		t.Errorf("all: %v", all.Names())
	}
	for i, s := range all.Schemas() {
		if s.Name != want[i] || s.Source != ir.Builtin || len(s.Parameters) == 0 || s.Description == "" {
			t.Errorf("schema %d: %+v", i, s)
		}
	}
}

// E-IR-4: what the model does not see says what a tool may do.
func TestEntries(t *testing.T) {
	t.Parallel()
	s, err := New(tool.Bindings{Describe: tool.Description{Dialect: "bash"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range s.Entries() {
		writes := slices.Contains([]string{"write_file", "edit_file", "shell", "shell_kill"}, e.Schema.Name)
		if e.SideEffects != writes || e.ReadOnly == writes || (e.Permission == ir.PermissionAsk) != writes || e.Category == "" {
			t.Errorf("%s: %+v", e.Schema.Name, e)
		}
		if cached := e.Schema.CacheTTLSecs > 0; cached != (e.Schema.Name == "calculate") {
			t.Errorf("%s: cached %v; only calculate may be", e.Schema.Name, cached)
		}
	}
}

// T-SET-7: unknown by type, never by text.
func TestUnknown(t *testing.T) {
	t.Parallel()
	s, err := New(tool.Bindings{})
	if err != nil {
		t.Fatal(err)
	}
	if _, found := s.Lookup("no_such"); found {
		t.Error("found")
	}
	f, ok := Unknown("no_such").(*tool.Fault)
	if !ok || f.Kind != tool.Unhandled || f.Text != "unknown tool: no_such" {
		t.Errorf("got %v", f)
	}
	if tl, found := s.Lookup("read_file"); !found || tl.Spec().Name != "read_file" {
		t.Error("read_file is not found")
	}
}

// T-SET-6: a second tool of a name is refused, naming both.
func TestOneToolAName(t *testing.T) {
	t.Parallel()
	_, err := bind(append(constructors(), constructors()[0]), tool.Bindings{})
	if err == nil || strings.Count(err.Error(), "calculate.calculate") != 2 {
		t.Errorf("got %v", err)
	}
}

// T-SET-1: the registry is what the directories say.
func TestRegistryIsUpToDate(t *testing.T) {
	t.Parallel()
	want, err := scaffold.Registry(".")
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadFile(scaffold.RegistryFile); err != nil || string(now) != string(want) {
		t.Errorf("run go generate ./internal/tools/...; %v", err)
	}
}
