package transcript

import (
	"strings"
	"unicode/utf8"
)

const reset = "\x1b[0m"

// compact writes a coloured line anew with no more sequences than it needs and
// without the spaces at its end. glamour pads every line to the width, one pair of
// sequences to a space, which is nine tenths of what it writes.
func compact(line string) string {
	if !strings.Contains(line, "\x1b") {
		return strings.TrimRight(line, " ")
	}
	var out strings.Builder
	var want, have string
	spaces := 0
	for i := 0; i < len(line); {
		if n := sgr(line[i:]); n > 0 {
			if seq := line[i : i+n]; seq == reset || seq == "\x1b[m" {
				want = ""
			} else {
				want += seq
			}
			i += n
			continue
		}
		if line[i] == ' ' && !decorated(want) {
			spaces++
			i++
			continue
		}
		if spaces > 0 && decorated(have) {
			out.WriteString(reset)
			have = ""
		}
		for ; spaces > 0; spaces-- {
			out.WriteByte(' ')
		}
		if want != have {
			if have != "" {
				out.WriteString(reset)
			}
			out.WriteString(want)
			have = want
		}
		_, n := utf8.DecodeRuneInString(line[i:])
		out.WriteString(line[i : i+n])
		i += n
	}
	if have != "" {
		out.WriteString(reset)
	}
	return out.String()
}

// sgr is the length of the colour sequence at the head of s.
func sgr(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1
}

// decorated reports whether sequences change how a space looks.
func decorated(seqs string) bool {
	for seq := range strings.SplitSeq(strings.ReplaceAll(seqs, "m", ""), "\x1b[") {
		params := strings.Split(seq, ";")
		for i := 0; i < len(params); i++ {
			switch p := params[i]; {
			case p == "38" && i+1 < len(params): // a foreground, which takes arguments
				i += map[string]int{"5": 2, "2": 4}[params[i+1]]
			case p == "4", p == "7", p == "9", p == "21", len(p) == 2 && p[0] == '4', len(p) == 3:
				return true
			}
		}
	}
	return false
}
