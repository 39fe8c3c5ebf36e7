package transcript

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// piece is Markdown that stands by itself. goesOn says that the next piece
// continues the same block.
type piece struct {
	text   string
	goesOn bool
}

// Long blocks are handed out in pieces of about this much.
const (
	codePiece      = 24   // lines of a code block
	listPiece      = 512  // bytes of a list, cut between items
	paragraphPiece = 4096 // bytes of one paragraph, cut at a space
)

// split takes what is final off the head of tail. Everything before the last block
// is; of the last one only what its growth can not change.
func split(tail *string) []piece {
	// What may become the marker of one more item does not end a list yet.
	held := openMarker(*tail)
	*tail = (*tail)[:len(*tail)-len(held)]
	defer func() { *tail += held }()
	var out []piece
	for {
		blocks := topBlocks(*tail)
		if len(blocks) == 0 {
			return out
		}
		last := blocks[len(blocks)-1]
		for i, b := range blocks[:len(blocks)-1] {
			out = append(out, piece{text: (*tail)[b.from:blocks[i+1].from]})
		}
		*tail = (*tail)[last.from:]
		p, rest, ok := cutLong(last.node, last.from, *tail)
		if !ok {
			return out
		}
		out = append(out, p)
		*tail = rest
	}
}

// openMarker is a last line that is still being written and could be the marker of a
// list's item: digits, or a bullet.
func openMarker(tail string) string {
	line := tail[strings.LastIndexByte(tail, '\n')+1:]
	word := strings.TrimLeft(line, " ")
	const longest = len("123456789.") // as Markdown has it
	if digits := strings.TrimLeft(word, "0123456789"); word != "" && len(word) <= longest && (digits == "" || len(digits) < len(word) && (digits == "." || digits == ")")) {
		return line
	}
	if word == "-" || word == "*" || word == "+" {
		return line
	}
	return ""
}

type block struct {
	node ast.Node
	from int
}

// markdown is the parser with glamour's extensions; it keeps no state between texts.
var markdown = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM, extension.DefinitionList)).Parser()
})

func parse(source string) ast.Node { return markdown().Parse(text.NewReader([]byte(source))) }

// topBlocks lists the blocks of a text with the starts of their first lines.
func topBlocks(source string) []block {
	var blocks []block
	for n := parse(source).FirstChild(); n != nil; n = n.NextSibling() {
		at := n.Pos()
		if at < 0 || at > len(source) {
			continue
		}
		from := strings.LastIndexByte(source[:at], '\n') + 1
		if len(blocks) > 0 && from <= blocks[len(blocks)-1].from {
			continue // two blocks on one line are one piece
		}
		blocks = append(blocks, block{n, from})
	}
	if len(blocks) > 0 {
		blocks[0].from = 0
	}
	return blocks
}

// cutLong takes a piece off a long open block, whose source begins at from in what
// was parsed.
func cutLong(n ast.Node, from int, source string) (p piece, rest string, ok bool) {
	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		return cutCode(source)
	case *ast.List:
		return cutList(n, from, source)
	case *ast.Paragraph:
		return cutParagraph(source)
	}
	return piece{}, "", false
}

// cutCode cuts an open code block after a line, preferably an empty one, and opens
// the fence anew. A block whose closing fence is there is handed out whole.
func cutCode(source string) (piece, string, bool) {
	open, body, found := strings.Cut(source, "\n")
	fence := fenceOf(open)
	if !found || fence == "" {
		return piece{}, "", false
	}
	at := 0
	var cut, count int
	for {
		line, _, more := strings.Cut(body[at:], "\n")
		if !more {
			break // a line that is still being written
		}
		if closes(line, fence) {
			end := at + len(line) + 1
			return piece{text: open + "\n" + body[:end]}, body[end:], true
		}
		at += len(line) + 1
		count++
		if strings.TrimSpace(line) == "" && count >= codePiece/2 || count >= codePiece && cut == 0 {
			cut = at
		}
	}
	if count < codePiece+codePiece/2 || cut == 0 {
		return piece{}, "", false
	}
	p := piece{text: open + "\n" + body[:cut] + fence + "\n", goesOn: true}
	return p, open + "\n" + body[cut:], true
}

// fenceOf returns the run of backquotes or tildes that opens a code block.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " ")
	for _, c := range "`~" {
		if n := len(line) - len(strings.TrimLeft(line, string(c))); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

func closes(line, fence string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// cutList hands out every item but the last and numbers the rest on.
func cutList(list *ast.List, from int, source string) (piece, string, bool) {
	last := list.LastChild()
	if last == nil || last.PreviousSibling() == nil || last.Pos()-from < listPiece || last.Pos()-from > len(source) {
		return piece{}, "", false
	}
	at := strings.LastIndexByte(source[:last.Pos()-from], '\n') + 1
	rest := source[at:]
	if list.IsOrdered() {
		rest = renumber(rest, list.Start+list.ChildCount()-1)
	}
	return piece{text: source[:at], goesOn: true}, rest, at > 0
}

func renumber(item string, n int) string {
	indent := item[:len(item)-len(strings.TrimLeft(item, " "))]
	digits := strings.TrimLeft(item[len(indent):], "0123456789")
	return indent + strconv.Itoa(n) + digits
}

// cutParagraph breaks a paragraph that does not end at a space.
func cutParagraph(source string) (piece, string, bool) {
	if len(source) < 2*paragraphPiece {
		return piece{}, "", false
	}
	at := bytes.LastIndexAny([]byte(source[:paragraphPiece]), " \n") + 1
	if at <= 0 {
		at = paragraphPiece
		for at > 0 && source[at]&0xc0 == 0x80 {
			at--
		}
	}
	return piece{text: source[:at], goesOn: true}, source[at:], true
}
