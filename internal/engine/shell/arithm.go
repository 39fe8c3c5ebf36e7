package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// arithm follows the commands inside an arithmetic expression and forgets the
// variables it assigns. Values that hold substitutions run them there.
func (w *walker) arithm(s *state, x syntax.ArithmExpr, c ctx) {
	if x == nil {
		return
	}
	switch x := x.(type) {
	case *syntax.Word:
		w.evaluated(s, w.value(s, x, c), c)
	case *syntax.BinaryArithm:
		w.arithm(s, x.X, c)
		w.arithm(s, x.Y, c)
		w.forgetAssigned(s, x)
	case *syntax.UnaryArithm:
		w.arithm(s, x.X, c)
		w.forgetAssigned(s, x)
	case *syntax.ParenArithm:
		w.arithm(s, x.X, c)
	case *syntax.FlagsArithm:
		w.arithm(s, x.X, c)
	}
}

// subscript follows a[$(command)] in text that bash evaluates as arithmetic or
// as the name of a variable.
func (w *walker) subscript(s *state, text string, c ctx) {
	if strings.Contains(text, "[") && strings.ContainsAny(text, "$`") {
		w.document(s, text, c.through("subscript"))
	}
}

// forgetAssigned makes variables unknown numbers that an expression assigns.
func (w *walker) forgetAssigned(s *state, x syntax.ArithmExpr) {
	if x == nil {
		return
	}
	forget := func(target syntax.ArithmExpr) {
		word, ok := target.(*syntax.Word)
		if !ok {
			return
		}
		if name := word.Lit(); name != "" {
			s.setVar(name, scalar(Word{Parts: []Part{{Kind: Unknown, Text: "$" + name, Origin: FromArithmetic}}}))
		}
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			switch n.Op {
			case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
				syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn, syntax.PowAssgn:
				forget(n.X)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				forget(n.X)
			}
		}
		return true
	})
}

// number is the value of $((…)), certain when all of it is.
func (w *walker) number(s *state, x syntax.ArithmExpr, c ctx) Word {
	open := Word{Parts: []Part{{Kind: Unknown, Text: "$((…))", Origin: FromArithmetic}}}
	if x == nil {
		return open
	}
	if holdsCommand(x) {
		w.arithm(s, x, c)
		return open
	}
	probe := *s
	k := &known{w: w, s: &probe}
	n, err := expand.Arithm(&expand.Config{Env: k}, x)
	w.arithm(s, x, c)
	if err != nil || k.missed {
		return open
	}
	return Lit(strconv.Itoa(n))
}

// test follows the words of [[ … ]].
func (w *walker) test(s *state, x syntax.TestExpr, c ctx) {
	switch x := x.(type) {
	case *syntax.Word:
		w.value(s, x, c)
	case *syntax.ParenTest:
		w.test(s, x.X, c)
	case *syntax.UnaryTest:
		w.test(s, x.X, c)
		if word, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) {
			w.named(s, w.value(s, word, c), c)
		}
	case *syntax.BinaryTest:
		w.test(s, x.X, c)
		w.test(s, x.Y, c)
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if word, ok := side.(*syntax.Word); ok {
					w.evaluated(s, w.value(s, word, c), c)
				}
			}
		}
	}
}
