package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

// The arch tests' own eyes: each rule sees what it forbids and lets through what
// it allows.
func TestArchRulesSee(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		code string
		want []string
	}{
		{"a table is no state", `var a = []string{"x"}; func f() string { return a[0] }`, nil},
		{"assignment", `var a int; func f() { a = 1 }`, []string{"a"}},
		{"increment", `var a int; func f() { a++ }`, []string{"a"}},
		{"writing into a map", `var m = map[string]int{}; func f() { m["x"] = 1 }`, []string{"m"}},
		{"deleting", `var m = map[string]int{}; func f() { delete(m, "x") }`, []string{"m"}},
		{"a field", `var c struct{ n int }; func f() { c.n = 2 }`, []string{"c"}},
		{"taking the address", `var a int; func f() *int { return &a }`, []string{"a"}},
		{"sorting in place", `import "slices"; var a = []int{2, 1}; func f() { slices.Sort(a) }`, []string{"a"}},
		{"a local of the same name", `var a int; func f() { a := 1; a++; _ = a }`, nil},
		{"a parameter of the same name", `var a int; func f(a []int) { a[0] = 1 }`, nil},
		{"a mutex", `import "sync"; var a sync.Mutex`, []string{"a"}},
		{"an atomic", `import "sync/atomic"; var a atomic.Int64`, []string{"a"}},
		{"a channel", `var a = make(chan int)`, []string{"a"}},
		{"a table computed once", `import "sync"; var a = sync.OnceValue(func() int { return 1 })`, nil},
	} {
		f := parse(t, c.code)
		vars := packageVars([]goFile{{syntax: f}})
		var got []string
		for name, v := range vars {
			if mutableKind(v.spec) {
				got = append(got, name)
			}
		}
		for _, w := range writes(f, vars) {
			got = append(got, w.name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %v, want %v", c.name, got, c.want)
		}
	}
}

func TestArchCountsBranches(t *testing.T) {
	t.Parallel()
	f := parse(t, `func f(x int, c chan int) {
		if x > 0 { for range 3 { } }
		switch x { case 1, 2: case 3: default: }
		select { case <-c: default: }
		func() { if x > 0 { } }()
	}`)
	if got := branches(f.Decls[0].(*ast.FuncDecl)); got != 6 {
		t.Errorf("branches = %d, want 6 (two ifs, a loop, two cases and a communication; no default)", got)
	}
}

func TestArchPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"internal/tui/**", "internal/tui", true},
		{"internal/tui/**", "internal/tui/safe", true},
		{"internal/tui/**", "internal/tuition", false},
		{"internal/engine/ir", "internal/engine/ir/x", false},
		{"**", "anything/at/all", true},
	} {
		if got := matches(c.pattern, c.name); got != c.want {
			t.Errorf("matches(%q, %q) = %v, want %v", c.pattern, c.name, got, c.want)
		}
	}
	if r, _ := roomOf("internal/tui/termguard"); r.is != "internal/tui/termguard" {
		t.Errorf("internal/tui/termguard is in room %q: its own line has to come before the one that holds all of tui", r.is)
	}
}

func parse(t *testing.T, code string) *ast.File {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x; "+code, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
