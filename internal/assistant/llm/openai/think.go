package openai

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// thinkSplitter takes a <think> block off the beginning of a text that comes in
// pieces; models without a reasoning field write their reasoning there (A-LLM-7).
// A tag anywhere else is text.
type thinkSplitter struct {
	state   thinkState
	pending string
}

type thinkState uint8

const (
	beforeThink thinkState = iota
	inThink
	pastThink
	plainText
)

// split returns what of the pending and new text is known to be thinking and text.
func (s *thinkSplitter) split(piece string) (thinking, text string) {
	s.pending += piece
	if s.state == beforeThink {
		head := strings.TrimLeft(s.pending, " \t\r\n")
		switch {
		case strings.HasPrefix(head, thinkOpen):
			s.state, s.pending = inThink, head[len(thinkOpen):]
		case strings.HasPrefix(thinkOpen, head):
			return "", ""
		default:
			s.state = plainText
		}
	}
	if s.state == inThink {
		inside, after, closed := strings.Cut(s.pending, thinkClose)
		if !closed {
			keep := partialSuffix(s.pending, thinkClose)
			thinking, s.pending = s.pending[:len(s.pending)-keep], s.pending[len(s.pending)-keep:]
			return thinking, ""
		}
		s.state, s.pending, thinking = pastThink, after, inside
	}
	if s.state == pastThink {
		if s.pending = strings.TrimLeft(s.pending, "\r\n"); s.pending == "" {
			return thinking, ""
		}
		s.state = plainText
	}
	text, s.pending = s.pending, ""
	return thinking, text
}

// rest returns what was held back, at the end of the text.
func (s *thinkSplitter) rest() (thinking, text string) {
	held := s.pending
	s.pending = ""
	if s.state == inThink {
		return held, ""
	}
	return "", held
}

// partialSuffix is how much of the end of s may be the beginning of tag.
func partialSuffix(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}
