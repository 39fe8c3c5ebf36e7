package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirs expands redirections and sets what the command reads.
func (w *walker) redirs(s *state, in []*syntax.Redirect, c *ctx) []Redir {
	var out []Redir
	for _, r := range in {
		fd := ""
		if r.N != nil {
			fd = r.N.Value
			if strings.HasPrefix(fd, "{") {
				s.setVar(strings.Trim(fd, "{}"), scalar(Word{Parts: []Part{{Kind: Unknown, Text: "fd", Origin: FromArithmetic}}}))
			}
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			w.heredoc(s, r, fd, c)
			continue
		case syntax.WordHdoc:
			word := w.value(s, r.Word, *c)
			if fd == "" || fd == "0" {
				c.input = textInput(word, "\n")
			}
			continue
		}
		target := w.value(s, r.Word, *c)
		one := Redir{Target: target, FD: fd}
		switch r.Op {
		case syntax.RdrIn:
			one.Op = RedirRead
			if fd == "" || fd == "0" {
				c.input = fileInput(target)
			}
		case syntax.RdrInOut:
			one.Op = RedirReadWrite
			if fd == "" || fd == "0" {
				c.input = fileInput(target)
			}
		case syntax.AppOut, syntax.AppAll:
			one.Op = RedirAppend
		case syntax.DplIn, syntax.DplOut:
			one.Op = w.dup(r.Op, target, fd)
			if one.Op == RedirDup && (r.Op == syntax.DplIn && fd == "" || fd == "0") {
				c.input = Input{}
			}
		default:
			one.Op = RedirWrite
		}
		out = append(out, one)
	}
	return out
}

// dup tells >&2 from >&file.
func (w *walker) dup(op syntax.RedirOperator, target Word, fd string) RedirOp {
	text, ok := target.Static()
	if ok && (text == "-" || strings.Trim(text, "0123456789-") == "") {
		return RedirDup
	}
	if op == syntax.DplIn {
		if !ok {
			return RedirDup
		}
		return RedirRead
	}
	return RedirWrite
}

func fileInput(target Word) Input {
	if len(target.Parts) == 1 && target.Parts[0].Origin == FromProcess && len(target.Parts[0].Subst) > 0 {
		sub := target.Parts[0].Subst
		return Input{Feeds: true, From: sub[0], To: sub[len(sub)-1] + 1}
	}
	return Input{}
}

func textInput(word Word, end string) Input {
	in := Input{Word: &word}
	if text, ok := word.Static(); ok {
		in.Known, in.Text = true, text+end
	}
	return in
}

// heredoc expands a here-document; a quoted mark keeps its text literal.
func (w *walker) heredoc(s *state, r *syntax.Redirect, fd string, c *ctx) {
	word := Lit("")
	if r.Hdoc != nil {
		f := &fielder{w: w, s: s, c: *c, value: true}
		if quotedMark(r.Word) && len(r.Hdoc.Parts) == 1 {
			if l, ok := r.Hdoc.Parts[0].(*syntax.Lit); ok {
				f.add(Part{Text: l.Value})
			} else {
				f.quoted(r.Hdoc.Parts)
			}
		} else {
			f.quoted(r.Hdoc.Parts)
		}
		f.end()
		if len(f.fields) > 0 {
			word = f.fields[0]
		}
	}
	if text, ok := word.Static(); ok && r.Op == syntax.DashHdoc {
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = strings.TrimLeft(l, "\t")
		}
		word = Lit(strings.Join(lines, "\n"))
	}
	if fd == "" || fd == "0" {
		c.input = textInput(word, "")
	}
}

func quotedMark(w *syntax.Word) bool {
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.SglQuoted, *syntax.DblQuoted:
			return true
		case *syntax.Lit:
			if strings.Contains(p.Value, `\`) {
				return true
			}
		}
	}
	return false
}
