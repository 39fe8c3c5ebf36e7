// Package scaffold writes the registry of the tools from their directories, and
// the directory of a new tool. It is for developers of `car`; newtool is its
// program, and no other code imports it.
package scaffold

import (
	"bytes"
	"embed"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/template"
)

//go:embed templates
var templates embed.FS

// RegistryFile is the generated file of the tools' own directory.
const RegistryFile = "registry_gen.go"

// Registry is the registry of the tools below dir: every directory whose package
// has a function New(tool.Bindings) tool.Tool.
func Registry(dir string) ([]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var packages []string
	for _, e := range entries {
		if !e.IsDir() || e.Name() == "testdata" {
			continue
		}
		is, err := isTool(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if is {
			packages = append(packages, e.Name())
		}
	}
	return render("registry.tmpl", packages)
}

// isTool looks for the constructor of a tool.
func isTool(dir string) (bool, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return false, err
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && isConstructor(fn) {
				return true, nil
			}
		}
	}
	return false, nil
}

func isConstructor(fn *ast.FuncDecl) bool {
	t := fn.Type
	return fn.Recv == nil && fn.Name.Name == "New" && t.Params.NumFields() == 1 && t.Results.NumFields() == 1 &&
		isSelector(t.Params.List[0].Type, "tool", "Bindings") && isSelector(t.Results.List[0].Type, "tool", "Tool")
}

func isSelector(e ast.Expr, pkg, name string) bool {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != name {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

// names are the spellings of a new tool.
type names struct {
	// Wire is the name that models call, Package the directory, Type the Go type.
	Wire, Package, Type string
}

// Tool writes the directory of a new tool below dir and returns the files. The
// name is the one that models will call: small letters, digits and underscores.
func Tool(dir, name string) ([]string, error) {
	if !regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`).MatchString(name) {
		return nil, fmt.Errorf("name %q: a tool is named in small letters, digits and underscores, like count_lines", name)
	}
	n := names{Wire: name, Package: strings.ReplaceAll(name, "_", "")}
	for i, part := range strings.Split(name, "_") {
		if i > 0 {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		n.Type += part
	}
	target := filepath.Join(dir, n.Package)
	if err := os.Mkdir(target, 0o755); err != nil {
		return nil, fmt.Errorf("directory of the tool: %w", err)
	}
	var written []string
	for tmpl, file := range map[string]string{"tool.tmpl": n.Package + ".go", "test.tmpl": n.Package + "_test.go"} {
		text, err := render(tmpl, n)
		if err != nil {
			return nil, err
		}
		path := filepath.Join(target, file)
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return nil, err
		}
		written = append(written, path)
	}
	return written, nil
}

// Update writes the registry of dir where it is not what it should be.
func Update(dir string) error {
	text, err := Registry(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, RegistryFile)
	if now, err := os.ReadFile(path); err == nil && bytes.Equal(now, text) {
		return nil
	}
	return os.WriteFile(path, text, 0o644)
}

func render(name string, data any) ([]byte, error) {
	text, err := fs.ReadFile(templates, "templates/"+name)
	if err != nil {
		return nil, err
	}
	t, err := template.New(name).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, data); err != nil {
		return nil, err
	}
	return format.Source(b.Bytes())
}
