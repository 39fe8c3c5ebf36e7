package policy

import (
	"strings"

	"car/internal/engine/ir"
	"car/internal/engine/shell"
)

// tarCall is a tar command line: the old style letters, then options.
type tarCall struct {
	mode     byte
	archive  *shell.Word
	absolute bool
	members  []shell.Word
	deletes  bool
	keeps    bool
}

// tar judges reading and writing archives.
func (j *judge) tar(c *call) bool {
	start := c.cmd
	t := j.tarOptions(c)
	switch t.mode {
	case 't':
		c.class = "read"
	case 'd':
		c.class = "read"
	case 'c', 'r', 'u', 'x', 'A':
	default:
		c.class = "edit"
	}
	if t.keeps {
		c.class = "read"
	}
	j.apply(c)
	if t.archive != nil {
		text, _ := t.archive.Static()
		// The archive counts from where tar starts, not from -C.
		moved := c.cmd
		c.cmd = start
		switch {
		case text == "-" || text == "":
		case strings.Contains(text, ":") && !strings.Contains(strings.SplitN(text, ":", 2)[0], "/"):
			c.raise(ir.FullAccess, ir.Irreversible, "reaches an archive on another machine")
			j.network = true
		case t.mode == 'c' || t.mode == 'r' || t.mode == 'u' || t.mode == 'A':
			j.write(c, *t.archive, creates)
		default:
			j.read(c, *t.archive, false)
		}
		c.cmd = moved
	}
	switch t.mode {
	case 'c', 'r', 'u', 'd':
		for _, m := range t.members {
			j.read(c, m, true)
			if t.deletes {
				j.write(c, m, deletesTree)
			}
		}
	case 'x':
		if !t.keeps {
			j.write(c, shell.Lit("."), creates)
			for _, m := range t.members {
				if text, ok := m.Static(); ok && !strings.HasPrefix(text, "-") {
					j.writeInside(c, text)
				}
			}
		}
		if t.absolute {
			j.ask(c, ruleUnknown, "keeps absolute member names, which may land anywhere", "extract without -P")
		}
	}
	return true
}

// writeInside judges a member name that would appear below the folder.
func (j *judge) writeInside(c *call, name string) {
	if at := j.place(c, name, true); at.guard > noGuard {
		j.writeAt(c, at, creates)
	}
}

// tarOptions reads the command line; what it starts or opens is judged on the
// way, and -C moves where the rest counts from.
func (j *judge) tarOptions(c *call) tarCall {
	var t tarCall
	args := c.args
	first := true
	take := func(rest string, i *int) *shell.Word {
		if rest != "" {
			w := shell.Lit(rest)
			return &w
		}
		if *i++; *i < len(args) {
			return &args[*i]
		}
		return nil
	}
	for i := 0; i < len(args); i++ {
		text, ok := args[i].Static()
		if !ok {
			text = args[i].Prefix()
		}
		old := first && text != "" && text[0] != '-'
		first = false
		switch {
		case strings.HasPrefix(text, "--"):
			i = j.tarLong(c, &t, args, i, text)
		case old || len(text) > 1 && text[0] == '-':
			letters := strings.TrimPrefix(text, "-")
			for k := 0; k < len(letters); k++ {
				ch := letters[k]
				rest := ""
				if !old {
					rest = letters[k+1:]
				}
				if strings.IndexByte("fCIbXTFHgKLNV", ch) < 0 {
					j.tarLetter(&t, ch)
					continue
				}
				j.tarValue(c, &t, ch, take(rest, &i))
				if rest != "" {
					break
				}
			}
		default:
			t.members = append(t.members, args[i])
		}
	}
	return t
}

func (j *judge) tarLetter(t *tarCall, ch byte) {
	switch ch {
	case 'c', 'x', 't', 'r', 'u', 'd', 'A':
		t.mode = ch
	case 'P':
		t.absolute = true
	case 'O':
		t.keeps = true
	}
}

func (j *judge) tarValue(c *call, t *tarCall, ch byte, v *shell.Word) {
	if v == nil {
		return
	}
	switch ch {
	case 'f':
		t.archive = v
	case 'C':
		j.tarChdir(c, t, *v)
	case 'I', 'F':
		j.helper(c, *v)
	case 'T', 'X':
		j.read(c, *v, false)
		if ch == 'T' {
			j.ask(c, ruleUnknown, "takes names from a file", "")
		}
	case 'g':
		j.write(c, *v, creates)
	}
}

func (j *judge) tarChdir(c *call, t *tarCall, v shell.Word) {
	if t.mode == 'x' || t.mode == 0 {
		for _, at := range j.places(c, v, true) {
			if t.mode == 'x' {
				j.writeAt(c, at, creates)
			}
		}
	}
	j.chdir(c, v)
}

// tarNames gives tar's long options the letter of what they do: a mode, a
// switch, or a value. Letters that tar itself has mean the same; R reads, G
// writes, H starts a program, K is a checkpoint action, M renames.
func tarNames() [][2]string {
	return [][2]string{
		{"--extract", "x"}, {"--get", "x"}, {"--create", "c"}, {"--list", "t"}, {"--append", "r"}, {"--update", "u"}, {"--diff", "d"}, {"--compare", "d"}, {"--delete", "r"},
		{"--absolute-names", "P"}, {"--to-stdout", "O"}, {"--remove-files", "D"},
		{"--file", "f"}, {"--directory", "C"}, {"--files-from", "T"}, {"--exclude-from", "R"}, {"--add-file", "R"}, {"--listed-incremental", "G"}, {"--index-file", "G"},
		{"--use-compress-program", "H"}, {"--to-command", "H"}, {"--info-script", "H"}, {"--new-volume-script", "H"}, {"--rsh-command", "H"}, {"--rmt-command", "H"},
		{"--checkpoint-action", "K"}, {"--transform", "M"}, {"--xform", "M"},
	}
}

// tarLong reads one long option, which may be shortened, and returns the index
// of the last word it took.
func (j *judge) tarLong(c *call, t *tarCall, args []shell.Word, i int, text string) int {
	name, _, found := strings.Cut(text, "=")
	act := byte(0)
	for _, row := range tarNames() {
		if name == row[0] || len(name) > 4 && strings.HasPrefix(row[0], name) {
			act = row[1][0]
			break
		}
	}
	switch {
	case act == 0:
		return i
	case act == 'D':
		t.deletes = true
		return i
	case strings.IndexByte("xctrudPO", act) >= 0:
		j.tarLetter(t, act)
		return i
	}
	var v *shell.Word
	if found {
		if w, ok := args[i].Cut(len(name) + 1); ok {
			v = &w
		}
	} else if i+1 < len(args) {
		i++
		v = &args[i]
	}
	if v != nil {
		j.tarTakes(c, t, act, *v)
	}
	return i
}

// tarTakes judges the value of a long option.
func (j *judge) tarTakes(c *call, t *tarCall, act byte, v shell.Word) {
	switch act {
	case 'f', 'C', 'T':
		j.tarValue(c, t, act, &v)
	case 'R':
		j.read(c, v, true)
	case 'G':
		j.write(c, v, creates)
	case 'H':
		j.helper(c, v)
	case 'K':
		j.checkpoint(c, v)
	case 'M':
		if strings.Contains(v.String(), "/") || v.HasUnknown() {
			j.ask(c, ruleUnknown, "renames members, which may land anywhere", "")
		}
	}
}

// checkpoint judges --checkpoint-action: exec= runs shell text.
func (j *judge) checkpoint(c *call, w shell.Word) {
	if strings.HasPrefix(w.Prefix(), "exec=") {
		if rest, ok := w.Cut(len("exec=")); ok {
			j.helper(c, rest)
			return
		}
	}
	if text, ok := w.Static(); !ok || strings.HasPrefix(text, "exec") {
		j.ask(c, ruleHelper, "is told to start another program", "")
	}
}

func (j *judge) zip(c *call) bool {
	j.apply(c)
	for i, w := range c.operands {
		switch {
		case i == 0:
			if t, _ := w.Static(); t != "-" {
				j.write(c, w, creates)
			}
		default:
			j.read(c, w, true)
			if c.has("-m", "--move") {
				j.write(c, w, deletesTree)
			}
		}
	}
	return true
}

func (j *judge) unzip(c *call) bool {
	if c.has("-l", "-t", "-v", "-p", "-z", "-Z", "-c") {
		c.class = "read"
	}
	j.apply(c)
	if len(c.operands) > 0 {
		j.read(c, c.operands[0], false)
	}
	if c.class == "edit" && !c.has("-d") {
		j.write(c, shell.Lit("."), creates)
	}
	if c.has("-:") {
		j.ask(c, ruleUnknown, "lets members climb out of the folder", "")
	}
	return true
}

func (j *judge) sevenzip(c *call) bool {
	verb := c.word(0)
	if verb == "l" || verb == "t" || verb == "i" || verb == "lb" || verb == "v" {
		c.class = "read"
	}
	j.apply(c)
	out := false
	for _, a := range c.args {
		if t, ok := a.Static(); ok && strings.HasPrefix(t, "-o") && len(t) > 2 {
			out = true
			j.write(c, shell.Lit(t[2:]), creates)
		}
	}
	for i, w := range c.operands {
		if i == 0 {
			continue
		}
		if i == 1 && (verb == "a" || verb == "u" || verb == "d") {
			j.write(c, w, creates)
			continue
		}
		j.read(c, w, true)
	}
	if !out && c.class == "edit" && verb != "a" {
		j.write(c, shell.Lit("."), creates)
	}
	return true
}

func (j *judge) compress(c *call) bool {
	if c.has("-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test") || len(c.operands) == 0 {
		c.class = "read"
	}
	j.apply(c)
	for _, w := range c.operands {
		j.read(c, w, c.has("-r"))
		if c.class == "edit" {
			j.write(c, w, creates)
		}
	}
	return true
}

func (j *judge) archiver(c *call) bool {
	first := strings.TrimPrefix(c.word(0), "-")
	lists := strings.ContainsAny(first, "tp") && !strings.ContainsAny(first, "rqdx") && c.name == "ar" || c.name == "jar" && strings.HasPrefix(first, "t")
	if lists {
		c.class = "read"
	}
	j.apply(c)
	for i, w := range c.operands {
		switch {
		case i == 0 && (c.name == "ar" || c.name == "jar"):
		case lists:
			j.read(c, w, false)
		default:
			j.read(c, w, false)
			if i <= 1 || c.name == "strip" || c.name == "ranlib" {
				j.write(c, w, creates)
			}
		}
	}
	return true
}

func (j *judge) cpio(c *call) bool {
	if c.has("-t", "--list") {
		c.class = "read"
	}
	j.apply(c)
	if c.has("-i", "--extract") && !c.has("--no-absolute-filenames") && !c.has("-t", "--list") {
		j.ask(c, ruleUnknown, "keeps absolute member names, which may land anywhere", "")
	}
	if c.has("-p", "--pass-through") {
		for _, w := range c.operands {
			j.write(c, w, creates)
		}
	}
	if c.has("-o", "--create", "-p") && !c.cmd.Input.Known {
		j.ask(c, ruleUnknown, "takes names from its input", "")
	}
	return true
}

func (j *judge) rsync(c *call) bool {
	j.apply(c)
	if c.has("--daemon") {
		c.raise(ir.FullAccess, ir.Irreversible, "serves files")
		j.network = true
	}
	n := len(c.operands)
	for i, w := range c.operands {
		text := w.Prefix()
		host, _, remote := strings.Cut(text, ":")
		if remote && !strings.Contains(host, "/") || strings.HasPrefix(text, "rsync://") {
			c.raise(ir.FullAccess, ir.Irreversible, "reaches another machine")
			j.host(host[strings.LastIndexByte(host, '@')+1:])
			continue
		}
		if i < n-1 || n == 1 {
			j.read(c, w, true)
			if c.has("--remove-source-files") {
				j.write(c, w, deletesTree)
			}
			continue
		}
		j.write(c, w, creates)
		if c.has("--delete", "--del", "--delete-before", "--delete-after", "--delete-during", "--delete-excluded", "--delete-delay") {
			for _, at := range j.places(c, w, true) {
				if at.isRoot {
					j.deny(c, ruleGovernance, "would remove what is not at the source, what governs this agent included", "sync into a folder below the root")
				}
			}
			c.raise(ir.SandboxEdit, ir.Irreversible, "removes files inside the root")
		}
	}
	return true
}
