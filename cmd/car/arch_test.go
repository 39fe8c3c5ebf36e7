package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The arch tests read the source of the whole module and hold what the compiler
// does not: which room may import which (arch_arrows_test.go), what may be used
// only at listed places (arch_bans_test.go), what counts as state of a package
// (arch_vars_test.go) and how large things may grow (arch_sizes_test.go). A
// failure is a sentence which says who broke what and why it exists. Places that
// may do otherwise are listed with their reason in arch_exceptions_test.go.

// goFile is one source file of the module.
type goFile struct {
	path   string // from the module's root, with slashes
	room   string // the directory of path
	test   bool
	lines  int
	syntax *ast.File
}

type source struct {
	fset  *token.FileSet
	files []goFile
}

const moduleRoot = "../.."

// readSource parses the module once for all arch tests.
var readSource = sync.OnceValues(func() (*source, error) {
	s := &source{fset: token.NewFileSet()}
	err := filepath.WalkDir(moduleRoot, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(moduleRoot, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if notOurs(rel) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		return s.add(p, rel)
	})
	return s, err
})

// notOurs reports directories whose Go files are data: fixtures, and the small
// project that the demo works on.
func notOurs(rel string) bool {
	switch base := path.Base(rel); {
	case rel == "." || rel == ".car-example":
		return false
	case rel == ".car-example/demo":
		return true
	default:
		return base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
	}
}

func (s *source) add(name, rel string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(s.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	s.files = append(s.files, goFile{
		path: rel, room: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"),
		lines: strings.Count(string(text), "\n"), syntax: f,
	})
	return nil
}

func mustReadSource(t *testing.T) *source {
	t.Helper()
	s, err := readSource()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// at names a place in the source.
func (s *source) at(n ast.Node) string {
	p := s.fset.Position(n.Pos())
	return strings.TrimPrefix(filepath.ToSlash(p.Filename), moduleRoot+"/") + ":" + strconv.Itoa(p.Line)
}

// imports lists what a file imports.
func (f goFile) imports() []string {
	var list []string
	for _, spec := range f.syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			list = append(list, p)
		}
	}
	return list
}

// importName is the name by which a file calls a package, or "" when it does not import it.
func (f goFile) importName(pkg string) string {
	for _, spec := range f.syntax.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil || p != pkg {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

// matches reports whether a slash path fits a pattern; "x/**" is x and all below it.
func matches(pattern, name string) bool {
	if dir, deep := strings.CutSuffix(pattern, "/**"); deep {
		return name == dir || strings.HasPrefix(name, dir+"/")
	}
	return pattern == name || pattern == "**"
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if matches(p, name) {
			return true
		}
	}
	return false
}

// Q-CODE: a package says what it is for, and so does every exported name.
func TestArchEveryExportedNameIsExplained(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	explained := map[string]bool{}
	for _, f := range s.files {
		explained[f.room] = explained[f.room] || f.syntax.Doc != nil
	}
	for room, ok := range explained {
		if !ok {
			t.Errorf("%s has no package comment: a newcomer must read in its doc.go what the room is for, its invariants, what it may import and how to add a member", room)
		}
	}
	for _, f := range s.files {
		if f.test {
			continue
		}
		for _, decl := range f.syntax.Decls {
			for _, name := range unexplained(decl) {
				t.Errorf("%s: exported %s has no comment; say what it is for, its units, its errors and what is safe for concurrent use", s.at(decl), name)
			}
		}
	}
}

func unexplained(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return nil
		}
		var names []string
		for _, spec := range d.Specs {
			names = append(names, unexplainedSpec(spec)...)
		}
		return names
	}
	return nil
}

func unexplainedSpec(spec ast.Spec) []string {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && s.Doc == nil && s.Comment == nil {
			return []string{s.Name.Name}
		}
	case *ast.ValueSpec:
		if s.Doc == nil && s.Comment == nil && len(s.Names) > 0 && s.Names[0].IsExported() {
			return []string{s.Names[0].Name}
		}
	}
	return nil
}

// exportedReceiver reports whether a method can be seen outside: its type is
// exported. Methods that only satisfy an interface of an unexported type need no words.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	return ast.IsExported(strings.TrimPrefix(typeName(d.Recv.List[0].Type), "*"))
}

// typeName prints the name of a receiver or result type, "*T" or "p.T".
func typeName(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return "*" + typeName(x.X)
	case *ast.SelectorExpr:
		return typeName(x.X) + "." + x.Sel.Name
	case *ast.IndexExpr:
		return typeName(x.X)
	case *ast.IndexListExpr:
		return typeName(x.X)
	default:
		return fmt.Sprintf("%T", e)
	}
}
