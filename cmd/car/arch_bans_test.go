package main

import (
	"go/ast"
	"testing"
)

// importBan keeps a library at the places that own it.
type importBan struct {
	imports []string
	only    []string
	why     string
}

var importBans = []importBan{
	{[]string{"github.com/spf13/**"}, []string{"cmd/car"}, "flags and help are the door's; everything below takes structs"},
	{[]string{"github.com/charmbracelet/**", "github.com/muesli/**"}, []string{"internal/tui/**"},
		"a room that knows the terminal library can not be used without a terminal"},
	{[]string{"github.com/BurntSushi/**"}, []string{"internal/assistant/project", "internal/assistant/llm/scripted"},
		"configuration is decoded once, strictly, with file, line and key"},
	{[]string{"os/exec"}, []string{"internal/tools/substrate/**"}, "a process started anywhere else is neither confined, owned nor recorded (P-PROC-2)"},
	{[]string{"net/http", "net/http/**"}, []string{"internal/assistant/llm/**", "internal/tools/webclient"}, "traffic from anywhere else is not governed"},
	{[]string{"modernc.org/**", "database/sql", "database/sql/**"}, []string{"internal/assistant/store"}, "one room owns the rows (D-17)"},
	{[]string{"testing", "testing/**"}, []string{"internal/assistant/llm/llmtest", "internal/tools/tooltest"}, "test code has no place in the binary"},
}

// callBan keeps a function of the standard library at listed places.
type callBan struct {
	pkg   string
	funcs []string
	only  []string
	why   string
}

var callBans = []callBan{
	{"os", []string{"Getenv", "LookupEnv", "Environ", "Setenv", "Unsetenv", "ExpandEnv", "UserHomeDir", "UserConfigDir", "UserCacheDir"},
		[]string{"cmd/car", "internal/tui/termguard"}, "ambient settings are read once, at the door, and handed on as values"},
	{"time", []string{"Now", "Since", "Until"}, []string{"cmd/car"}, "the clock comes in through a Config, so that a session's log can be byte-identical in a test"},
	{"context", []string{"Background", "TODO"}, []string{"cmd/car"}, "work that no caller can cancel outlives its reason"},
	{"os", []string{"Exit"}, []string{"cmd/car"}, "leaving is main's; anybody else skips the clean-up of others"},
	{"log", []string{"Fatal", "Fatalf", "Fatalln", "Print", "Printf", "Println"}, nil, "the standard logger writes past every filter"},
	{"fmt", []string{"Print", "Printf", "Println"}, nil, "output goes to a writer that was handed in, never to the process's own"},
}

func TestArchLibrariesStayInTheirRooms(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	for _, f := range s.files {
		if f.test {
			continue
		}
		for _, imp := range f.imports() {
			for _, ban := range importBans {
				if matchesAny(ban.imports, imp) && !matchesAny(ban.only, f.room) && !excepted("import", f.path, imp) {
					t.Errorf("%s imports %s outside of %v: %s", f.path, imp, ban.only, ban.why)
				}
			}
		}
	}
}

func TestArchNothingReachesOut(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	for _, f := range s.files {
		if f.test {
			continue
		}
		for _, ban := range callBans {
			name := f.importName(ban.pkg)
			if name == "" || matchesAny(ban.only, f.room) {
				continue
			}
			for _, fn := range ban.funcs {
				if at := firstUse(f.syntax, name, fn); at != nil && !excepted("call", f.path, ban.pkg+"."+fn) {
					t.Errorf("%s: %s.%s: %s", s.at(at), ban.pkg, fn, ban.why)
				}
			}
		}
	}
}

func firstUse(root ast.Node, pkg, fn string) (found ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || found != nil || sel.Sel.Name != fn {
			return found == nil
		}
		if id, ok := sel.X.(*ast.Ident); ok && id.Name == pkg {
			found = sel
		}
		return true
	})
	return found
}

// Nothing happens by importing: no init functions (D-16 lists the one that must be).
func TestArchNoInitFunctions(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	for _, f := range s.files {
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if ok && fn.Recv == nil && fn.Name.Name == "init" && !excepted("init", f.path, "") {
				t.Errorf("%s: an init function runs before main can decide anything; construct what you need and hand it on", s.at(fn))
			}
		}
	}
}
