package shell

import (
	"slices"
	"strings"
)

// find follows what find -exec and its kin would run for each path.
func (w *walker) find(s *state, cmd Command, c ctx) bool {
	at := w.emit(s, cmd, c)
	args := cmd.Words[1:]
	for i := 0; i < len(args); i++ {
		verb, _ := args[i].Static()
		switch verb {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		end := i + 1
		for end < len(args) {
			text, ok := args[end].Static()
			if ok && (text == ";" || text == "+" && end > i+1 && args[end-1].String() == "{}") {
				break
			}
			end++
		}
		words := slices.Clone(args[i+1 : end])
		w.forEach(s, cmd, words, "{}", Part{Kind: Unknown, Text: "{}", Origin: FromFound, Subst: []int{at}}, "find "+verb, c)
		i = end
	}
	return true
}

// fd follows fd -x and -X.
func (w *walker) fd(s *state, cmd Command, c ctx) bool {
	at := w.emit(s, cmd, c)
	args := cmd.Words[1:]
	for i, a := range args {
		text, _ := a.Static()
		switch text {
		case "-x", "--exec", "-X", "--exec-batch":
		default:
			continue
		}
		words := slices.Clone(args[i+1:])
		for j, word := range words {
			if t, _ := word.Static(); t == ";" {
				words = words[:j]
				break
			}
		}
		found := Part{Kind: Unknown, Text: "{}", Origin: FromFound, Subst: []int{at}}
		if !anyHolds(words, "{") {
			words = append(words, Word{Parts: []Part{found}})
		}
		w.forEach(s, cmd, words, "{}", found, "fd "+text, c)
		break
	}
	return true
}

func anyHolds(words []Word, text string) bool {
	return slices.ContainsFunc(words, func(w Word) bool { return strings.Contains(w.String(), text) })
}

// forEach follows a command in which mark stands for something that is only
// known when it runs.
func (w *walker) forEach(s *state, cmd Command, words []Word, mark string, found Part, via string, c ctx) {
	if len(words) == 0 {
		return
	}
	for i, word := range words {
		words[i] = replace(word, mark, found)
	}
	inner := Command{Words: words, Source: display(words), Line: cmd.Line, Input: Input{}}
	c = c.through(via)
	c.plain = true
	c.input = Input{}
	n := *s
	w.dispatch(&n, inner, c)
}

// replace puts a part where mark stands in literal text.
func replace(word Word, mark string, part Part) Word {
	if mark == "" {
		return word
	}
	var out []Part
	for _, p := range word.Parts {
		if p.Kind != Literal || !strings.Contains(p.Text, mark) {
			out = append(out, p)
			continue
		}
		pieces := strings.Split(p.Text, mark)
		for i, piece := range pieces {
			if i > 0 {
				out = append(out, part)
			}
			if piece != "" {
				q := p
				q.Text = piece
				out = append(out, q)
			}
		}
	}
	return Word{Parts: out}
}

// xargs follows what xargs would run with what it reads.
func (w *walker) xargs(s *state, cmd Command, c ctx) bool {
	o := getopt{short: "a:d:E:e::I:i::L:l::n:P:s:S:R:J:0oprtx", long: "arg-file:,delimiter:,eof::,replace::,max-lines::,max-args:,max-procs:,max-chars:,null,interactive,no-run-if-empty,verbose,exit,open-tty,process-slot-var:,show-limits"}
	opts, rest, clear := o.parse(cmd.Words[1:])
	if !clear {
		cmd.Opaque = "options that are not known"
	}
	outer := cmd
	outer.Words, outer.Wraps = cmd.Words[:len(cmd.Words)-len(rest)], true
	w.emit(s, outer, c)
	words := slices.Clone(rest)
	if len(words) == 0 {
		words = []Word{Lit("echo")}
	}
	mark, marked := "", false
	if v := lastValue(opts, "I", "i", "replace", "J"); v != nil {
		mark, _ = v.Static()
		marked = true
	} else if hasOption(opts, "i", "replace") {
		mark, marked = "{}", true
	}
	input := Part{Kind: Unknown, Text: "…", Origin: FromInput, Split: !marked, Subst: cmd.Input.span()}
	fromFile := lastValue(opts, "a", "arg-file") != nil
	given, known := w.items(cmd.Input, opts)
	known = known && !fromFile
	if fromFile {
		input.Subst = nil
	}
	inner := Command{Line: cmd.Line, Input: cmd.Input}
	if fromFile {
		inner.Input = Input{}
	}
	switch {
	case marked && known:
		for _, g := range given {
			one := make([]Word, len(words))
			for i, word := range words {
				one[i] = replace(word, mark, Part{Text: g})
			}
			w.xargsRun(s, inner, one, c)
		}
		return true
	case marked:
		for i, word := range words {
			words[i] = replace(word, mark, input)
		}
	case known:
		for _, g := range given {
			words = append(words, Lit(g))
		}
	default:
		words = append(words, Word{Parts: []Part{input}})
	}
	w.xargsRun(s, inner, words, c)
	return true
}

func (w *walker) xargsRun(s *state, inner Command, words []Word, c ctx) {
	inner.Words, inner.Source = words, display(words)
	c = c.through("xargs")
	c.plain = true
	c.input = inner.Input
	n := *s
	w.dispatch(&n, inner, c)
}

// items are the arguments that xargs reads when its input is certain.
func (w *walker) items(in Input, opts []option) ([]string, bool) {
	if !in.Known {
		return nil, false
	}
	sep := ""
	if hasOption(opts, "0", "null") {
		sep = "\x00"
	}
	if v := lastValue(opts, "d", "delimiter"); v != nil {
		d, _ := v.Static()
		sep = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\0`, "\x00").Replace(d)
	}
	var out []string
	switch {
	case sep != "":
		out = strings.Split(strings.TrimSuffix(in.Text, sep), sep)
	case hasOption(opts, "I", "replace", "i", "L", "l"):
		out = strings.Split(strings.TrimSuffix(in.Text, "\n"), "\n")
	case strings.ContainsAny(in.Text, `'"\`):
		return nil, false
	default:
		out = strings.Fields(in.Text)
	}
	return out, len(out) <= maxRounds
}

// parallel follows GNU parallel, which joins its words into shell text.
func (w *walker) parallel(s *state, cmd Command, c ctx) bool {
	o := getopt{short: "a:C:d:E:I:j:L:l:n:N:P:S:s:0kmqrtuvX", long: "arg-file:,colsep:,delimiter:,jobs:,max-args:,delay:,joblog:,results:,retries:,sshlogin:,timeout:,tmpdir:,workdir:,halt:,load:,memfree:,nice:,shuf,bar,dry-run,keep-order,line-buffer,pipe,eta,progress,tag,verbose,no-notice,will-cite,will-run"}
	_, rest, _ := o.parse(cmd.Words[1:])
	end := slices.IndexFunc(rest, func(a Word) bool { return strings.HasPrefix(a.Prefix(), ":::") })
	var given []Word
	words := rest
	if end >= 0 {
		words = rest[:end]
		if mark, _ := rest[end].Static(); mark == ":::" || mark == ":::+" {
			given = rest[end+1:]
		}
	}
	outer := cmd
	outer.Words, outer.Wraps = cmd.Words[:len(cmd.Words)-len(rest)], true
	text, ok := joinStatic(words)
	if !ok || len(words) == 0 {
		outer.Opaque = "parallel runs text that is not known"
	}
	w.emit(s, outer, c)
	if !ok || len(words) == 0 {
		return true
	}
	c = c.through("parallel")
	if len(given) > maxRounds {
		given = given[:maxRounds]
		w.problem(TooMuch, 0, "parallel runs more than can be followed")
	}
	for _, g := range given {
		arg, ok := g.Static()
		if !ok {
			given = nil
			break
		}
		run := text + " " + display([]Word{Lit(arg)})
		if strings.Contains(text, "{") {
			run = strings.ReplaceAll(text, "{}", display([]Word{Lit(arg)}))
		}
		w.text(w.child(s, cmd.Assigns), run, c, false)
	}
	if len(given) == 0 {
		child := w.child(s, cmd.Assigns)
		child.args, child.argsOpen = nil, true
		run := text + ` "$@"`
		if strings.Contains(text, "{") {
			run = strings.ReplaceAll(text, "{}", `"$@"`)
		}
		w.text(child, run, c, false)
	}
	return true
}
