package main

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// The ceilings (D-8). They are maxima for the tail, not aims: most files stay
// under 300 lines and most functions on one screen.
const (
	maxFileLines     = 500
	maxTestFileLines = 800
	maxFuncLines     = 80
	maxTableLines    = 120 // a table test, or a constructor that only names flags
	maxBranches      = 20
	maxMethods       = 6
)

// A file is a sitting. Generated files and files that are nothing but data are exempt.
func TestArchFilesAreASitting(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	for _, f := range s.files {
		limit := maxFileLines
		if f.test {
			limit = maxTestFileLines
		}
		if f.lines <= limit || ast.IsGenerated(f.syntax) || onlyData(f.syntax) || excepted("lines", f.path, "") {
			continue
		}
		t.Errorf("%s has %d lines, %d at most: split it by the nouns inside", f.path, f.lines, limit)
	}
}

func onlyData(f *ast.File) bool {
	for _, decl := range f.Decls {
		if _, ok := decl.(*ast.FuncDecl); ok {
			return false
		}
	}
	return true
}

// A function fits a screen and can be held in mind.
func TestArchFunctionsFitAScreen(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	for _, f := range s.files {
		for _, decl := range f.syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Body == nil || excepted("func", f.path, fn.Name.Name) {
				continue
			}
			limit := maxFuncLines
			if f.test && strings.HasPrefix(fn.Name.Name, "Test") || constructsCommand(fn) {
				limit = maxTableLines
			}
			lines := s.fset.Position(fn.End()).Line - s.fset.Position(fn.Pos()).Line + 1
			if lines > limit {
				t.Errorf("%s: %s has %d lines, %d at most: name its parts", s.at(fn), fn.Name.Name, lines, limit)
			}
			if n := branches(fn); n > maxBranches {
				t.Errorf("%s: %s has %d branches, %d at most: nobody can hold them in mind; make a table or name its parts", s.at(fn), fn.Name.Name, n, maxBranches)
			}
		}
	}
}

func constructsCommand(fn *ast.FuncDecl) bool {
	return fn.Type.Results != nil && len(fn.Type.Results.List) == 1 && typeName(fn.Type.Results.List[0].Type) == "*cobra.Command"
}

// branches counts the places at which a function may go one way or another.
func branches(fn *ast.FuncDecl) int {
	n := 0
	ast.Inspect(fn.Body, func(node ast.Node) bool {
		switch x := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if x.List != nil {
				n++
			}
		case *ast.CommClause:
			if x.Comm != nil {
				n++
			}
		}
		return true
	})
	return n
}

// A small interface can be faked honestly.
func TestArchInterfacesAreSmall(t *testing.T) {
	t.Parallel()
	s := mustReadSource(t)
	for _, f := range s.files {
		for _, decl := range f.syntax.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.TYPE {
				continue
			}
			for _, spec := range gen.Specs {
				ts := spec.(*ast.TypeSpec)
				iface, ok := ts.Type.(*ast.InterfaceType)
				if !ok || iface.Methods.NumFields() <= maxMethods || excepted("interface", f.path, ts.Name.Name) {
					continue
				}
				t.Errorf("%s: interface %s has %d methods, %d at most: ask for what the caller calls", s.at(ts), ts.Name.Name, iface.Methods.NumFields(), maxMethods)
			}
		}
	}
}
