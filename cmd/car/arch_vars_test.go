package main

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// No room keeps state of its own: a package variable is a table, a sentinel, a
// pattern or embedded text that nothing changes after initialisation. The rule is
// mechanical: the variable is never assigned, incremented, addressed, written
// into, deleted from or sorted anywhere in its package, and its type is not one
// that changes by its methods (sync, atomic, channels).
func TestArchPackageVariablesAreTables(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	byRoom := map[string][]goFile{}
	for _, f := range s.files {
		if !f.test {
			byRoom[f.room] = append(byRoom[f.room], f)
		}
	}
	for _, files := range byRoom {
		vars := packageVars(files)
		for name, v := range vars {
			if mutableKind(v.spec) && !excepted("var", v.file.path, name) {
				t.Errorf("%s: package variable %s changes by its own methods; put it into a struct that somebody constructs and owns", s.at(v.spec), name)
			}
		}
		for _, f := range files {
			for _, w := range writes(f.syntax, vars) {
				if !excepted("var", f.path, w.name) {
					t.Errorf("%s: package variable %s is changed here; a room has no state that its callers did not hand in", s.at(w.at), w.name)
				}
			}
		}
	}
}

type packageVar struct {
	spec *ast.ValueSpec
	file goFile
}

func packageVars(files []goFile) map[string]packageVar {
	vars := map[string]packageVar{}
	for _, f := range files {
		for _, decl := range f.syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				v := spec.(*ast.ValueSpec)
				for _, name := range v.Names {
					if name.Name != "_" {
						vars[name.Name] = packageVar{v, f}
					}
				}
			}
		}
	}
	return vars
}

// mutableKind looks for the types whose methods change them. sync.OnceValue is no
// such type: it is a table that is computed when first asked for.
func mutableKind(v *ast.ValueSpec) (bad bool) {
	look := func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ChanType:
			bad = true
		case *ast.SelectorExpr:
			id, ok := x.X.(*ast.Ident)
			if ok && (id.Name == "atomic" || id.Name == "sync" && !strings.HasPrefix(x.Sel.Name, "OnceValue")) {
				bad = true
			}
		}
		return true
	}
	if v.Type != nil {
		ast.Inspect(v.Type, look)
	}
	for _, value := range v.Values {
		ast.Inspect(value, look)
	}
	return bad
}

type write struct {
	name string
	at   ast.Node
}

// writes finds every change of a package variable in a file. A name that the
// enclosing function declares itself is that function's own.
func writes(f *ast.File, vars map[string]packageVar) []write {
	var found []write
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		local := declared(fn)
		note := func(e ast.Expr, at ast.Node) {
			if name := rootName(e); name != "" && !local[name] {
				if _, ok := vars[name]; ok {
					found = append(found, write{name, at})
				}
			}
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			noteWrites(n, note)
			return true
		})
	}
	return found
}

func noteWrites(n ast.Node, note func(ast.Expr, ast.Node)) {
	switch x := n.(type) {
	case *ast.AssignStmt:
		if x.Tok != token.DEFINE {
			for _, left := range x.Lhs {
				note(left, x)
			}
		}
	case *ast.IncDecStmt:
		note(x.X, x)
	case *ast.UnaryExpr:
		if x.Op == token.AND {
			note(x.X, x)
		}
	case *ast.CallExpr:
		if len(x.Args) > 0 && changesArgument(x.Fun) {
			note(x.Args[0], x)
		}
	}
}

// changesArgument knows the functions that write into their first argument.
func changesArgument(fun ast.Expr) bool {
	switch f := fun.(type) {
	case *ast.Ident:
		return f.Name == "delete" || f.Name == "clear" || f.Name == "copy"
	case *ast.SelectorExpr:
		id, ok := f.X.(*ast.Ident)
		return ok && (id.Name == "sort" || id.Name == "slices" && (strings.HasPrefix(f.Sel.Name, "Sort") || f.Sel.Name == "Reverse"))
	}
	return false
}

func rootName(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// declared lists the names that a function declares anywhere in itself.
func declared(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.Field:
			for _, id := range x.Names {
				names[id.Name] = true
			}
		case *ast.ValueSpec:
			for _, id := range x.Names {
				names[id.Name] = true
			}
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				for _, left := range x.Lhs {
					names[rootName(left)] = true
				}
			}
		case *ast.RangeStmt:
			if x.Tok == token.DEFINE {
				names[rootName(x.Key)] = true
				if x.Value != nil {
					names[rootName(x.Value)] = true
				}
			}
		}
		return true
	})
	return names
}
