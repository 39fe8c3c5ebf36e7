package readfile

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"car/internal/engine/ir"
	"car/internal/engine/tool"
	"car/internal/tools/change"
	"car/internal/tools/textfile"
	"car/internal/tools/wire"
)

// page shows lines of a file that is in memory.
func page(env tool.Env, in input, info tool.Info, raw []byte) (tool.Execution, error) {
	encoding, text := textfile.Decode(raw)
	lines := textfile.Lines(text)
	total := len(lines)
	if in.Offset > max(total, 1) {
		return tool.Execution{}, wire.Bad("offset %d is past the end of %q, which has %d lines", in.Offset, in.Path, total)
	}
	start := in.Offset - 1
	if total > 0 && len(lines[start]) > maxBytes {
		at := int64(lineStart(text, start))
		in.ByteOffset = &at
		return window(env, in, info, raw)
	}
	shown, clipped := fit(text, lines[start:min(total, start+in.Limit)], start)
	end := start + len(shown)
	out := output{
		Path: in.Path, Content: textfile.Numbered(shown, in.Offset), StartLine: in.Offset, EndLine: end, TotalLines: &total,
		Truncated: end < total || clipped, Encoding: encoding.String(), EOL: textfile.EOL(text), Bytes: int64(len(raw)), Outside: info.Outside,
	}
	if total == 0 {
		out.StartLine = 0
	}
	if end < total {
		out.NextOffset = end + 1
	}
	note(env.Seen, info.Key, raw, in.Offset, end, total, clipped)
	return done(out)
}

// fit takes lines up to the cap and clips the long ones. The first line always
// fits, because a longer one became a window.
func fit(text string, lines []string, start int) (shown []string, clipped bool) {
	size := 0
	for i, line := range lines {
		head, cut := textfile.Clip(line, maxChars)
		if cut > 0 {
			clipped = true
			head += fmt.Sprintf(" …[%d more characters, byte_offset %d shows them]", cut, lineStart(text, start+i)+len(head))
		}
		if size += len(head) + len("     1\t\n"); size > maxBytes && i > 0 {
			return shown, clipped
		}
		shown = append(shown, head)
	}
	return shown, clipped
}

// lineStart is the byte at which line i (from 0) begins.
func lineStart(text string, i int) int {
	at := 0
	for range i {
		at += strings.IndexByte(text[at:], '\n') + 1
	}
	return at
}

// note records what was shown. Pages that join up to the whole file are a full
// reading; a clipped line makes every reading a partial one.
func note(ledger tool.Ledger, key string, raw []byte, first, last, total int, clipped bool) {
	r := tool.Reading{}
	before, found := ledger.Lookup(key)
	same := found && before.Digest == ir.DigestBytes(raw)
	if same {
		r.Full, r.Lines = before.Full, before.Lines
	}
	if !clipped && first <= r.Lines+1 {
		r.Lines = max(r.Lines, last)
	}
	r.Full = r.Full || !clipped && r.Lines >= total
	change.Note(ledger, key, raw, r)
}

// window shows text from a byte on, for lines that no page can show. Offsets
// count bytes of the text without its byte order mark.
func window(env tool.Env, in input, info tool.Info, raw []byte) (tool.Execution, error) {
	encoding, text := textfile.Decode(raw)
	from := int(min(*in.ByteOffset, int64(len(text))+1))
	if from > len(text) || from == len(text) && from > 0 {
		return tool.Execution{}, wire.Bad("byte_offset %d is past the end of %q, which has %d bytes of text", *in.ByteOffset, in.Path, len(text))
	}
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	to := min(from+windowBytes, len(text))
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	total := textfile.CountLines(text)
	out := output{
		Path: in.Path, Content: text[from:to], StartLine: textfile.LineAt(text, from), EndLine: textfile.LineAt(text, max(to-1, from)),
		TotalLines: &total, Truncated: to < len(text), Encoding: encoding.String(), EOL: textfile.EOL(text), Bytes: int64(len(raw)), Outside: info.Outside,
	}
	if to < len(text) {
		out.ByteOffset = int64(to)
	}
	if from == 0 && to == len(text) {
		note(env.Seen, info.Key, raw, 1, total, total, false)
	} else {
		note(env.Seen, info.Key, raw, total+2, total, total, true)
	}
	return done(out)
}
