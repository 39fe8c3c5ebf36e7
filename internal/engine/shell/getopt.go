package shell

import "strings"

// getopt reads options the way getopt_long does. short lists letters, each
// followed by : when it takes a value and :: when only an attached one; long
// lists names separated by commas, with the same marks.
type getopt struct {
	short string
	long  string
	// minus: a lone - is an option, as for env and su.
	minus bool
}

type option struct {
	name  string
	value *Word
}

// parse splits arguments into options and operands at the first operand. clear
// is false when an unknown word may be an option or vanish.
func (o getopt) parse(args []Word) (opts []option, rest []Word, clear bool) {
	clear = true
	for len(args) > 0 {
		text, ok := args[0].Static()
		if !ok {
			for _, p := range args[0].Parts {
				if p.Kind == Unknown && p.Split {
					clear = false
				}
			}
			// --name=$value is still an option.
			prefix := args[0].Prefix()
			if name, _, found := strings.Cut(prefix, "="); found && strings.HasPrefix(name, "--") {
				value, _ := args[0].Cut(len(name) + 1)
				opts = append(opts, option{o.full(name[2:]), &value})
				args = args[1:]
				continue
			}
			if len(prefix) > 1 && prefix[0] == '-' && strings.Contains(o.short, prefix[1:2]+":") {
				value, _ := args[0].Cut(2)
				opts = append(opts, option{prefix[1:2], &value})
				args = args[1:]
				continue
			}
			return opts, args, clear
		}
		switch {
		case text == "--":
			return opts, args[1:], clear
		case strings.HasPrefix(text, "--"):
			opts, args = o.longOption(opts, text, args)
		case len(text) > 1 && text[0] == '-':
			opts, args = o.cluster(opts, text, args)
		case text == "-" && o.minus:
			opts, args = append(opts, option{name: "-"}), args[1:]
		default:
			return opts, args, clear
		}
	}
	return opts, nil, clear
}

func (o getopt) longOption(opts []option, text string, args []Word) ([]option, []Word) {
	name, value, found := strings.Cut(text[2:], "=")
	name = o.full(name)
	if found {
		v := Lit(value)
		return append(opts, option{name, &v}), args[1:]
	}
	if strings.Contains(","+o.long+",", ","+name+":,") && len(args) > 1 {
		return append(opts, option{name, &args[1]}), args[2:]
	}
	return append(opts, option{name: name}), args[1:]
}

// full completes an abbreviated long option.
func (o getopt) full(name string) string {
	found := name
	for one := range strings.SplitSeq(o.long, ",") {
		one = strings.TrimRight(one, ":")
		if one == name {
			return name
		}
		if name != "" && strings.HasPrefix(one, name) {
			found = one
		}
	}
	return found
}

func (o getopt) cluster(opts []option, text string, args []Word) ([]option, []Word) {
	for i := 1; i < len(text); i++ {
		letter := text[i : i+1]
		at := strings.Index(o.short, letter)
		takes := at >= 0 && at+1 < len(o.short) && o.short[at+1] == ':'
		optional := takes && at+2 < len(o.short) && o.short[at+2] == ':'
		switch {
		case !takes:
			opts = append(opts, option{name: letter})
			continue
		case i+1 < len(text):
			v := Lit(text[i+1:])
			return append(opts, option{letter, &v}), args[1:]
		case !optional && len(args) > 1:
			return append(opts, option{letter, &args[1]}), args[2:]
		default:
			return append(opts, option{name: letter}), args[1:]
		}
	}
	return opts, args[1:]
}

// skip returns the operands.
func (o getopt) skip(args []Word) []Word {
	_, rest, _ := o.parse(args)
	return rest
}

// valueOf returns the last value of a short option.
func (o getopt) valueOf(args []Word, letter byte) *Word {
	opts, _, _ := o.parse(args)
	return lastValue(opts, string(letter))
}

func lastValue(opts []option, names ...string) *Word {
	var v *Word
	for _, op := range opts {
		for _, n := range names {
			if op.name == n && op.value != nil {
				v = op.value
			}
		}
	}
	return v
}

func hasOption(opts []option, names ...string) bool {
	for _, op := range opts {
		for _, n := range names {
			if op.name == n {
				return true
			}
		}
	}
	return false
}
