package shell

import "slices"

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
