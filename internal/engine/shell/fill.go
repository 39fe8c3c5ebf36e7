package shell

import (
	"slices"
	"strings"
)

// maxLines is how many lines of certain input are followed one by one.
const maxLines = 16

// fill makes the variables unknown that read and its kin set.
func (w *walker) fill(s *state, name string, args []Word, in Input, c ctx) {
	elsewhere := w.rewired || name == "getopts"
	unknown := func(name string) variable {
		v := unknownVar(name, FromInput)
		v.words[0].Parts[0].Subst = in.span()
		v.words[0].Parts[0].Number = in.Number && !elsewhere
		return v
	}
	o := getopt{short: "a:d:i:n:N:p:t:u:rse"}
	if name != "read" {
		o = getopt{short: "d:n:O:s:tu:C:c:"}
	}
	elsewhere = elsewhere || o.valueOf(args, 'u') != nil
	if a := o.valueOf(args, 'a'); a != nil {
		w.named(s, *a, c)
		if text, ok := a.Static(); ok {
			s.setVar(text, unknown(text))
			w.given(s, text, c)
		}
	}
	names := o.skip(args)
	if name == "getopts" && len(names) > 0 {
		names = append(slices.Clone(names[1:]), Lit("OPTARG"))
	}
	if len(names) == 0 {
		names = []Word{Lit("REPLY"), Lit("MAPFILE")}
	}
	for _, a := range names {
		w.named(s, a, c)
		if text, ok := a.Static(); ok {
			s.setVar(text, unknown(text))
			w.given(s, text, c)
		}
	}
}

// filled are the ways in which read gets a line of input that is certain: one
// more state a line, beside the one in which the variables are unknown, so that a
// path named in the input is seen and nothing is taken for all there is.
func (w *walker) filled(s *state, cmd Command, c ctx) []*state {
	name, _ := cmd.Words[0].Static()
	if _, own := s.vars.get("IFS"); name != "read" || !cmd.Input.Known || own || len(cmd.Assigns) > 0 {
		return nil
	}
	o := getopt{short: "a:d:i:n:N:p:t:u:rse"}
	args := cmd.Words[1:]
	for _, letter := range []byte("adnNu") {
		if o.valueOf(args, letter) != nil {
			return nil
		}
	}
	names := o.skip(args)
	if len(names) == 0 {
		names = []Word{Lit("REPLY")}
	}
	var out []*state
	for line := range strings.SplitSeq(strings.TrimRight(cmd.Input.Text, "\n"), "\n") {
		if len(out) == maxLines {
			break
		}
		if strings.Contains(line, `\`) {
			continue
		}
		n := *s
		n.status = statusOK
		for i, v := range names {
			line = strings.Trim(line, " \t")
			field, rest := line, ""
			if at := strings.IndexAny(line, " \t"); at >= 0 && i < len(names)-1 {
				field, rest = line[:at], line[at:]
			}
			line = rest
			if text, ok := v.Static(); ok {
				n.setVar(text, scalar(Lit(field)))
				w.given(&n, text, c)
			}
		}
		out = append(out, &n)
	}
	return out
}

func (w *walker) printfVar(s *state, args []Word, c ctx) {
	if len(args) < 2 {
		return
	}
	if flag, _ := args[0].Static(); flag != "-v" {
		return
	}
	w.named(s, args[1], c)
	if text, ok := args[1].Static(); ok {
		s.setVar(text, unknownVar(text, FromMerge))
		w.given(s, text, c)
	}
}
