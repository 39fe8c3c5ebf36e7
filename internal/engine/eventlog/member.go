package eventlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// member is one member of a JSON object, its value as it stands.
type member struct {
	name string
	raw  []byte
}

// split takes a record apart without decoding it. A name that stands twice is an
// error: two readers could take different ones.
func split(line []byte) ([]member, error) {
	s := splitter{text: line}
	if !json.Valid(line) || s.next() != '{' {
		return nil, errors.New("not a JSON object")
	}
	found := make([]member, 0, 12)
	for s.pos++; s.next() != '}'; {
		name, err := unquote(s.value())
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			if m.name == name {
				return nil, fmt.Errorf("member %q stands twice", name)
			}
		}
		s.next()
		s.pos++ // the colon
		s.next()
		found = append(found, member{name, s.value()})
		if s.next() == ',' {
			s.pos++
		}
	}
	return found, nil
}

// splitter walks text that is known to be valid JSON.
type splitter struct {
	text []byte
	pos  int
}

// next skips white space and returns the byte that follows.
func (s *splitter) next() byte {
	for bytes.IndexByte([]byte(" \t\r\n"), s.text[s.pos]) >= 0 {
		s.pos++
	}
	return s.text[s.pos]
}

// value moves past the value at pos and returns it.
func (s *splitter) value() []byte {
	start, depth := s.pos, 0
	for {
		switch s.text[s.pos] {
		case '"':
			s.skipString()
		case '{', '[':
			depth++
			s.pos++
		case '}', ']':
			if depth == 0 { // the end of what holds the value
				return s.text[start:s.pos]
			}
			depth--
			s.pos++
		case ',', ':', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return s.text[start:s.pos]
			}
			s.pos++
			continue
		default:
			s.pos++
			continue
		}
		if depth == 0 {
			return s.text[start:s.pos]
		}
	}
}

func (s *splitter) skipString() {
	for s.pos++; s.text[s.pos] != '"'; s.pos++ {
		if s.text[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
}

// unquote decodes a JSON string.
func unquote(raw []byte) (string, error) {
	if len(raw) > 1 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return string(raw[1 : len(raw)-1]), nil
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err
}

// without is the object again, lacking one member.
func without(found []member, name string) []byte {
	text := []byte{'{'}
	for _, m := range found {
		if m.name == name {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		quoted, _ := json.Marshal(m.name) // a string always encodes
		text = append(append(append(text, quoted...), ':'), m.raw...)
	}
	return append(text, '}')
}
