package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// status is what is known of how the last command ended.
type status uint8

const (
	statusUnknown status = iota
	statusOK
	statusFailed
)

// flow is how control goes on after a command.
type flow uint8

const (
	flowNext flow = iota
	flowBreak
	flowContinue
	flowReturn
	flowExit
)

// variable is what is known of a shell variable. Its words are values, not
// fields: they were not split and hold no active glob of their own.
type variable struct {
	words    []Word
	array    bool
	exported bool
	unset    bool
	ref      string
}

func scalar(w Word) variable { return variable{words: []Word{w}} }

func unknownVar(name string, o Origin) variable {
	return scalar(Word{Parts: []Part{{Kind: Unknown, Text: "$" + name, Origin: o, Var: name}}})
}

// list is a persistent association list: adding shares the tail, so states fork
// for the price of a pointer.
type list[T any] struct {
	name  string
	value T
	next  *list[T]
	depth int
}

func (l *list[T]) get(name string) (T, bool) {
	for n := l; n != nil; n = n.next {
		if n.name == name {
			return n.value, true
		}
	}
	var zero T
	return zero, false
}

func (l *list[T]) set(name string, v T) *list[T] {
	depth := 1
	if l != nil {
		depth = l.depth + 1
	}
	if depth > 256 {
		l = l.compact()
		depth = l.depth + 1
	}
	return &list[T]{name: name, value: v, next: l, depth: depth}
}

// compact drops shadowed entries.
func (l *list[T]) compact() *list[T] {
	seen := map[string]bool{}
	var keep []*list[T]
	for n := l; n != nil; n = n.next {
		if !seen[n.name] {
			seen[n.name] = true
			keep = append(keep, n)
		}
	}
	var out *list[T]
	for i, n := range slices.Backward(keep) {
		out = &list[T]{name: n.name, value: n.value, next: out, depth: len(keep) - i}
	}
	return out
}

func (l *list[T]) names() []string {
	seen := map[string]bool{}
	var out []string
	for n := l; n != nil; n = n.next {
		if !seen[n.name] {
			seen[n.name] = true
			out = append(out, n.name)
		}
	}
	return out
}

// place is a working directory as the shell names it.
type place struct {
	path  string
	known bool
}

// join resolves a path as cd does: by name, without following links.
func (p place) join(to string) place {
	if strings.HasPrefix(to, "/") {
		return place{path.Clean(to), true}
	}
	if !p.known {
		return place{}
	}
	return place{path.Join(p.path, to), true}
}

type options struct {
	errexit   bool
	allexport bool
	noglob    bool
	dotglob   bool
	aliases   bool
}

// function is a definition; text is a body that came from another parse.
type function struct {
	body *syntax.Stmt
	text *source
}

// state is what is known at one point of one way through the text. Its lists
// are persistent, so a copy of the struct is a fork.
type state struct {
	vars    *list[variable]
	funcs   *list[function]
	aliases *list[string]
	dir     place
	old     place
	stack   []place
	args    []Word
	// argsOpen is true when the positional parameters are not known.
	argsOpen bool
	opts     options
	posix    bool
	status   status
	flow     flow
}

func (s *state) with(st status) *state {
	n := *s
	n.status = st
	return &n
}

func (s *state) setVar(name string, v variable) {
	if s.opts.allexport {
		v.exported = true
	}
	s.vars = s.vars.set(name, v)
}

// sameWorld reports whether two states differ in nothing but how the last
// command ended.
func (s *state) sameWorld(o *state) bool {
	return s.vars == o.vars && s.funcs == o.funcs && s.aliases == o.aliases && s.dir == o.dir && s.old == o.old &&
		s.opts == o.opts && s.flow == o.flow && s.argsOpen == o.argsOpen && sameSlice(s.args, o.args) && slices.Equal(s.stack, o.stack)
}

func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// maxWays is how many ways through the text are followed apart.
const maxWays = 8

// settle drops states that are equal and merges them when there are too many.
func settle(in []*state) []*state {
	if len(in) < 2 {
		return in
	}
	out := make([]*state, 0, len(in))
next:
	for _, s := range in {
		for i, o := range out {
			if s.sameWorld(o) {
				if s.status != o.status {
					out[i] = o.with(statusUnknown)
				}
				continue next
			}
		}
		out = append(out, s)
	}
	if len(out) <= maxWays {
		return out
	}
	return mergeByFlow(out)
}

func mergeByFlow(in []*state) []*state {
	var out []*state
	for f := flowNext; f <= flowExit; f++ {
		var merged *state
		for _, s := range in {
			if s.flow != f {
				continue
			}
			if merged == nil {
				merged = s
				continue
			}
			merged = merge(merged, s)
		}
		if merged != nil {
			out = append(out, merged)
		}
	}
	return out
}

// merge returns a state in which everything that differs is unknown.
func merge(a, b *state) *state {
	n := *a
	if a.status != b.status {
		n.status = statusUnknown
	}
	if a.dir != b.dir {
		n.dir = place{}
	}
	if a.old != b.old {
		n.old = place{}
	}
	if !slices.Equal(a.stack, b.stack) {
		n.stack = nil
	}
	if a.argsOpen || b.argsOpen || !sameSlice(a.args, b.args) {
		n.args, n.argsOpen = nil, true
	}
	n.opts.dotglob = a.opts.dotglob || b.opts.dotglob
	n.opts.aliases = a.opts.aliases || b.opts.aliases
	n.opts.errexit = a.opts.errexit && b.opts.errexit
	n.opts.noglob = a.opts.noglob && b.opts.noglob
	if a.vars != b.vars {
		n.vars = mergeVars(a.vars, b.vars)
	}
	for _, name := range b.funcs.names() {
		if _, ok := a.funcs.get(name); !ok {
			f, _ := b.funcs.get(name)
			n.funcs = n.funcs.set(name, f)
		}
	}
	return &n
}

func mergeVars(a, b *list[variable]) *list[variable] {
	out := a
	for _, name := range append(a.names(), b.names()...) {
		va, oka := a.get(name)
		vb, okb := b.get(name)
		if oka && okb && sameSlice(va.words, vb.words) && va.unset == vb.unset && va.ref == vb.ref {
			continue
		}
		v := unknownVar(name, FromMerge)
		if va.number() && vb.number() {
			v = numberVar(name)
		}
		v.exported = va.exported || vb.exported
		out = out.set(name, v)
	}
	return out
}

// number reports a value that is a number, certain or not.
func (v variable) number() bool {
	if v.unset || v.array || v.ref != "" || len(v.words) != 1 || len(v.words[0].Parts) == 0 {
		return false
	}
	for _, p := range v.words[0].Parts {
		if p.Kind == Unknown && p.Origin != FromArithmetic && !p.Number || p.Kind == Pattern || p.Kind == Literal && !isNumber(p.Text) {
			return false
		}
	}
	return true
}

// widen makes everything unknown that a loop body changed.
func widen(before, after *state) *state {
	n := merge(before, after)
	n.flow = flowNext
	return n
}
