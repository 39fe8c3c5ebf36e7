package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Dialect is the shell that will run a text.
type Dialect uint8

// The dialects. Text for POSIX that bash would read otherwise is a Problem.
const (
	Bash Dialect = iota
	POSIX
)

// Options say what is known before a text starts.
type Options struct {
	Dialect Dialect
	// Dir is the absolute working directory at the start.
	Dir string
	// Env holds the variables whose values are known. Every other variable of the
	// environment is unknown.
	Env map[string]string
	// DirExists, when set, tells whether an absolute path is a directory; known is
	// false where nobody can tell. It prunes what happens after a cd.
	DirExists func(path string) (exists, known bool)
}

// Script is what a text can lead to.
type Script struct {
	// Commands are in the order in which the reader met them.
	Commands []Command
	// Problems are parts that could not be decided.
	Problems []Problem
}

// ProblemKind says why a text or a part of it cannot be decided.
type ProblemKind uint8

// The kinds.
const (
	// NUL: the text holds a NUL byte, which shells drop or stop at.
	NUL ProblemKind = iota + 1
	// Control: a control character that could repaint what a person reads, or
	// that the shell and the parser may split differently.
	Control
	// Bidi: a direction control that changes what a reader sees.
	Bidi
	// Empty: nothing to run.
	Empty
	// Unparsed: the text is not shell.
	Unparsed
	// TooLong, TooDeep, TooMuch: a bound was met.
	TooLong
	TooDeep
	TooMuch
	// Ambiguous: the text means something else in the shell that will run it.
	Ambiguous
	// Opaque: a part runs text that is not known.
	Opaque
)

// Problem is an undecidable part. Text says what, in lower case, without quoting
// the shell text.
type Problem struct {
	Kind ProblemKind
	Text string
	Line uint
}

// Command is one simple command that may run.
type Command struct {
	// Words are the program and its arguments; empty for a bare assignment or a
	// redirection alone. For a wrapper they end where the wrapped command begins.
	Words []Word
	// Assigns are assignments in front of the command, or the command's own when it
	// has no words or is export, declare, readonly, local or typeset.
	Assigns []Assign
	Redirs  []Redir
	// Dir is where the command runs; DirKnown is false when no one can tell.
	Dir      string
	DirKnown bool
	// Via names what the command is reached through, outermost first: "bash -c",
	// "timeout", "substitution".
	Via []string
	// Input is what the command would read from its standard input.
	Input Input
	// Wraps is true for a wrapper whose operand follows as a command of its own.
	Wraps bool
	// Remote is true for a command that another machine would run.
	Remote bool
	// Opaque, when set, says why what this command would run is not known.
	Opaque string
	// Recursive is true for a call of a function from within itself; Forks says
	// that this happens in a pipeline or in the background.
	Recursive bool
	Forks     bool
	// Background is true for a command started with & or coproc.
	Background bool
	// Loop is true within a loop whose end is not known.
	Loop bool
	// Piped is true when the standard output goes into a pipe or a substitution.
	Piped bool
	// Source is the text as written, or as built for an unwrapped command.
	Source string
	Line   uint
	// DotGlob is true when patterns also match names that begin with a dot.
	DotGlob bool
	// Lookup is true for `command -v` and its like: nothing runs.
	Lookup bool
	// Builtin is true when the shell itself does the work.
	Builtin bool

	node *syntax.Stmt
}

// Input is what feeds a command's standard input.
type Input struct {
	// Known is true when Text is all of it.
	Known bool
	Text  string
	// Word is the expanded here-document or here-string; nil otherwise.
	Word *Word
	// Feeds is true when the input comes from commands of this text; From and To
	// bound their indexes in Script.Commands, To exclusive.
	Feeds    bool
	From, To int
	// Number is true when the input holds numbers only, or nothing at all.
	Number bool
}

// span lists the commands that feed the input.
func (in Input) span() []int {
	if !in.Feeds {
		return nil
	}
	return span(in.From, in.To)
}

// Assign is NAME=value.
type Assign struct {
	Name  string
	Value Word
	// Exported is true when child processes see it.
	Exported bool
	Append   bool

	elems []Word
	array bool
	keyed bool
}

// RedirOp is what a redirection does to its target.
type RedirOp uint8

// The operations. Here-documents and here-strings are Input, not redirections.
const (
	RedirRead RedirOp = iota
	RedirWrite
	RedirAppend
	RedirReadWrite
	// RedirDup duplicates or closes a descriptor; its target is no path.
	RedirDup
)

// Redir is a redirection.
type Redir struct {
	Op     RedirOp
	Target Word
	// FD is the descriptor as written, empty for the default.
	FD string
}

// PartKind says what is known of a part of a word.
type PartKind uint8

// The kinds.
const (
	// Literal is text that is certain.
	Literal PartKind = iota
	// Pattern is an active glob; Text is its source.
	Pattern
	// Unknown is text that nobody can tell before it runs.
	Unknown
)

// Origin says where an unknown part comes from.
type Origin uint8

// The origins.
const (
	FromNowhere Origin = iota
	// FromVariable: a variable of the environment, or one read at run time.
	FromVariable
	// FromSubstitution: the output of the commands Part.Subst.
	FromSubstitution
	// FromArithmetic: a number.
	FromArithmetic
	// FromInput: what xargs, parallel or read reads; Part.Subst are the commands
	// that write it, where they are known.
	FromInput
	// FromFound: a path that the find command Part.Subst[0] would find.
	FromFound
	// FromProcess: a name like /dev/fd/63 of a process substitution.
	FromProcess
	// FromPositional: an argument of a function or script.
	FromPositional
	// FromMerge: several values are possible.
	FromMerge
)

// AnyVariable is the Var of a part that may be the value of any variable.
const AnyVariable = "*"

// Part is a piece of a word.
type Part struct {
	Kind PartKind
	// Text is literal text, the glob, or for an unknown part its source, such as
	// $NAME; never a value that is not in the text.
	Text string
	// Origin, Var and Subst belong to unknown parts. Var is also kept on literal
	// parts that came from a variable.
	Origin Origin
	Var    string
	Subst  []int
	// Split is true for an unknown part outside quotes, which may become no word
	// or several.
	Split bool
	// Derived is true when only a part of the value or a fact about it is used.
	Derived bool
	// Number is true for what is a number or nothing: the output of a command that
	// prints no more, or what read takes from one.
	Number bool
}

// Word is one argument after expansion.
type Word struct {
	Parts []Part
}

// Lit returns a word of literal text.
func Lit(text string) Word { return Word{Parts: []Part{{Text: text}}} }

// Static returns the word's text when all of it is certain and no glob is active.
func (w Word) Static() (string, bool) {
	if len(w.Parts) == 1 && w.Parts[0].Kind == Literal {
		return w.Parts[0].Text, true
	}
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Kind != Literal {
			return "", false
		}
		b.WriteString(p.Text)
	}
	return b.String(), true
}

// String returns the word for display: literal text, globs and the sources of
// unknown parts.
func (w Word) String() string {
	if len(w.Parts) == 1 {
		return w.Parts[0].Text
	}
	var b strings.Builder
	for _, p := range w.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// Prefix returns the literal text before the first part that is not certain.
func (w Word) Prefix() string {
	var b strings.Builder
	for _, p := range w.Parts {
		if p.Kind != Literal {
			break
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// HasPattern reports whether a glob is active in the word.
func (w Word) HasPattern() bool { return w.has(Pattern) }

// HasUnknown reports whether some part of the word is not known.
func (w Word) HasUnknown() bool { return w.has(Unknown) }

func (w Word) has(k PartKind) bool {
	for _, p := range w.Parts {
		if p.Kind == k {
			return true
		}
	}
	return false
}

// Cut returns the word without its first n bytes of literal text; ok is false
// when they are not all literal.
func (w Word) Cut(n int) (rest Word, ok bool) {
	parts := w.Parts
	for n > 0 {
		if len(parts) == 0 || parts[0].Kind != Literal {
			return Word{}, false
		}
		if len(parts[0].Text) > n {
			first := parts[0]
			first.Text = first.Text[n:]
			return Word{Parts: append([]Part{first}, parts[1:]...)}, true
		}
		n -= len(parts[0].Text)
		parts = parts[1:]
	}
	return Word{Parts: parts}, true
}

// Name returns the program word when it is static.
func (c Command) Name() (string, bool) {
	if len(c.Words) == 0 {
		return "", false
	}
	return c.Words[0].Static()
}
