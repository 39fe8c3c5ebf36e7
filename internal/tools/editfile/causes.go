package editfile

import (
	"encoding/json"
	"regexp"
	"strings"

	"golang.org/x/text/unicode/norm"

	"car/internal/engine/tool"
	"car/internal/tools/textfile"
	"car/internal/tools/wire"
)

// cause is a way in which old_text may differ from the file. Both are folded; if
// the folded text is found, this is what is wrong. A fold keeps the number of lines.
type cause struct {
	says string
	// old folds old_text, both folds old_text and file; nil leaves as is.
	old  func(string) string
	both func(string) string
	// atEnd demands that the match ends where the file does.
	atEnd bool
}

// causes are tried in order, the plainest first (T-FILE-17).
var causes = []cause{
	{says: "old_text has the line numbers of read_file in it; leave them out", old: withoutNumbers},
	{says: `old_text has JSON escapes (\n, \t, \") written out; give the characters themselves`, old: unescaped},
	{says: "the spaces at line ends differ", both: withoutTrailing},
	{says: "tabs and spaces differ", both: withoutIndent},
	{says: "the file has no line end at its end; leave the last one out of old_text", old: withoutFinalEnd, atEnd: true},
	{says: "characters that look alike differ (quotes, dashes, spaces, letters of another script)", both: withoutLookAlikes},
	{says: "the Unicode form differs (composed or decomposed accents)", both: norm.NFC.String},
	{says: "the letter case differs", both: strings.ToLower},
}

// mismatch refuses a text that is not there: with its cause and the lines that
// would match, else with the most similar lines, else with nothing but that.
func mismatch(path, which, text, old string) error {
	for _, c := range causes {
		where, n, found := c.find(text, old)
		if found {
			return &tool.Fault{
				Kind:   tool.BadArgs,
				Text:   which + "old_text is not in " + quote(path) + ": " + c.says + ".\nNothing was changed; the lines as they are:",
				Output: shown(path, text, where, n),
			}
		}
	}
	if best, ok := similar(text, old); ok {
		return &tool.Fault{
			Kind:   tool.BadArgs,
			Text:   which + "old_text is not in " + quote(path) + "; " + best.difference + ".\nNothing was changed; the most similar lines:",
			Output: shown(path, text, best.line, best.count),
		}
	}
	return wire.Bad("%sold_text is not in %q, nor anything like it; nothing was changed.\nRead the file again, or search it with grep_files.", which, path)
}

func quote(path string) string {
	b, _ := json.Marshal(path)
	return string(b)
}

// find reports the lines of text (from 1) that a folded old_text would match.
func (c cause) find(text, old string) (line, count int, found bool) {
	folded := old
	if c.old != nil {
		folded = c.old(folded)
	}
	if c.both != nil {
		folded, text = c.both(folded), c.both(text)
	}
	if strings.TrimSpace(folded) == "" {
		return 0, 0, false
	}
	at := strings.Index(text, folded)
	if c.atEnd {
		at = len(text) - len(folded)
	}
	if at < 0 || !strings.HasPrefix(text[at:], folded) {
		return 0, 0, false
	}
	return textfile.LineAt(text, at), textfile.CountLines(folded), true
}

// shown are the lines that a refusal shows, numbered, at most 40 of them.
func shown(path, text string, line, count int) map[string]any {
	lines := textfile.Lines(text)
	from := min(line-1, len(lines))
	to := min(from+min(count, 40), len(lines))
	part := make([]string, 0, to-from)
	for _, l := range lines[from:to] {
		head, cut := textfile.Clip(l, 500)
		if cut > 0 {
			head += "…"
		}
		part = append(part, head)
	}
	return map[string]any{"path": path, "lines": textfile.Numbered(part, from+1)}
}

var numberPrefix = regexp.MustCompile(`(?m)^[ \t]*[0-9]+(\t|→|[ ]?[|:][ ]?)`)

// withoutNumbers drops line numbers if every line with text has one.
func withoutNumbers(s string) string {
	for _, line := range textfile.Lines(s) {
		if line != "" && !numberPrefix.MatchString(line) {
			return ""
		}
	}
	return numberPrefix.ReplaceAllString(s, "")
}

// unescaped reads the escapes of JSON strings.
func unescaped(s string) string {
	return strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\"`, `"`, `\\`, `\`, `\/`, "/").Replace(s)
}

func withoutTrailing(s string) string {
	return eachLine(s, func(l string) string { return strings.TrimRightFunc(l, blank) })
}

func withoutIndent(s string) string {
	return eachLine(s, func(l string) string { return strings.Join(strings.FieldsFunc(l, blank), " ") })
}

func blank(r rune) bool { return r == ' ' || r == '\t' || r == '\r' }

func withoutFinalEnd(s string) string { return strings.TrimSuffix(s, "\n") }

func eachLine(s string, f func(string) string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = f(l)
	}
	return strings.Join(lines, "\n")
}

// withoutLookAlikes folds characters that a screen, a model or an editor swaps.
func withoutLookAlikes(s string) string {
	return lookAlikes.Replace(norm.NFKC.String(s))
}

var lookAlikes = strings.NewReplacer(
	"“", `"`, "”", `"`, "„", `"`, "‟", `"`, "«", `"`, "»", `"`, "″", `"`,
	"‘", "'", "’", "'", "‚", "'", "‛", "'", "′", "'", "`", "'", "´", "'",
	"–", "-", "—", "-", "‒", "-", "―", "-", "‐", "-", "‑", "-", "−", "-",
	"…", "...", "\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u200b", "", "\u200c", "", "\u200d", "", "\ufeff", "", "\u00ad", "",
	"×", "x", "⋅", "·", "•", "·", "∶", ":",
	"а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "х", "x", "у", "y", "і", "i", "ѕ", "s",
	"А", "A", "В", "B", "Е", "E", "К", "K", "М", "M", "Н", "H", "О", "O", "Р", "P", "С", "C", "Т", "T", "Х", "X",
	"Α", "A", "Β", "B", "Ε", "E", "Ο", "O", "ο", "o", "ν", "v",
)
