package ir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds the nesting of objects and arrays (E-JCS-2).
const maxDepth = 128

const (
	maxExactInteger = 1<<53 - 1
	// exponentFrom is the magnitude from which RFC 8785 writes an exponent. Between
	// 2^53 and here every double is written as an integer that is beyond the exact
	// ones, so it is refused however it was spelled: the canonical form of whatever
	// is accepted is accepted again.
	exponentFrom = 1e21
)

// CheckText refuses JSON text that is not I-JSON, with the path of the first
// offence: duplicate names, invalid UTF-8, lone surrogates, integers beyond
// ±(2^53-1), numbers no double can hold, nesting over 128 (E-JCS-2).
func CheckText(data []byte) error { return asError(checkText(data, 0)) }

// asError keeps a nil *PathError from becoming a non-nil error.
func asError(e *PathError) error {
	if e == nil {
		return nil
	}
	return e
}

// checkText checks text that stands depth containers deep.
func checkText(data []byte, depth int) *PathError {
	if !json.Valid(data) {
		var raw json.RawMessage
		err := json.Unmarshal(data, &raw)
		e := &PathError{Problem: fmt.Sprintf("not JSON: %v", err)}
		if at, ok := errors.AsType[*json.SyntaxError](err); ok {
			e.Offset = int(at.Offset)
		}
		return e
	}
	s := textScanner{data: data}
	e := s.value(depth)
	if e != nil {
		e.Offset = s.pos
	}
	return e
}

// textScanner walks text that is known to be valid JSON, so it looks for
// nothing but what I-JSON adds.
type textScanner struct {
	data []byte
	pos  int
}

// space skips white space and returns the byte that follows.
func (s *textScanner) space() byte {
	for s.pos < len(s.data) {
		switch c := s.data[s.pos]; c {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return c
		}
	}
	return 0
}

func (s *textScanner) value(depth int) *PathError {
	switch c := s.space(); c {
	case '{':
		return s.object(depth + 1)
	case '[':
		return s.array(depth + 1)
	case '"':
		return checkStringText(s.stringToken())
	case 't', 'n':
		s.pos += len("true")
	case 'f':
		s.pos += len("false")
	default:
		return checkNumberText(s.numberToken())
	}
	return nil
}

func (s *textScanner) object(depth int) *PathError {
	if depth > maxDepth {
		return tooDeep()
	}
	seen := make(map[string]struct{})
	s.pos++
	for s.space() != '}' {
		token := s.stringToken()
		if e := checkStringText(token); e != nil {
			e.Problem = "name: " + e.Problem
			return e
		}
		name := unquote(token)
		if _, dup := seen[name]; dup {
			return &PathError{Problem: fmt.Sprintf("duplicate name %q", name)}
		}
		seen[name] = struct{}{}
		s.space()
		s.pos++ // the colon
		if e := s.value(depth); e != nil {
			return e.in(name)
		}
		if s.space() == ',' {
			s.pos++
		}
	}
	s.pos++
	return nil
}

func (s *textScanner) array(depth int) *PathError {
	if depth > maxDepth {
		return tooDeep()
	}
	s.pos++
	for i := 0; s.space() != ']'; i++ {
		if e := s.value(depth); e != nil {
			return e.at(i)
		}
		if s.space() == ',' {
			s.pos++
		}
	}
	s.pos++
	return nil
}

// stringToken returns the string at pos with its quotes and moves past it.
func (s *textScanner) stringToken() []byte {
	s.space()
	start := s.pos
	for s.pos++; s.data[s.pos] != '"'; s.pos++ {
		if s.data[s.pos] == '\\' {
			s.pos++
		}
	}
	s.pos++
	return s.data[start:s.pos]
}

func (s *textScanner) numberToken() []byte {
	start := s.pos
	for s.pos < len(s.data) && bytes.IndexByte([]byte("+-.0123456789eE"), s.data[s.pos]) >= 0 {
		s.pos++
	}
	return s.data[start:s.pos]
}

// unquote decodes a valid string token.
func unquote(token []byte) string {
	if bytes.IndexByte(token, '\\') < 0 {
		return string(token[1 : len(token)-1])
	}
	var text string
	if json.Unmarshal(token, &text) != nil {
		return string(token)
	}
	return text
}

// checkStringText refuses what a decoder would silently replace.
func checkStringText(token []byte) *PathError {
	if !utf8.Valid(token) {
		return &PathError{Problem: "invalid UTF-8"}
	}
	for i := bytes.IndexByte(token, '\\'); i >= 0 && i < len(token); i++ {
		if token[i] != '\\' {
			continue
		}
		i++
		if token[i] != 'u' {
			continue
		}
		unit := codeUnit(token, i-1)
		i += 4
		switch {
		case unit >= 0xDC00 && unit <= 0xDFFF:
			return &PathError{Problem: fmt.Sprintf(`lone surrogate \u%04x`, unit)}
		case unit >= 0xD800 && unit <= 0xDBFF:
			if low := codeUnit(token, i+1); low < 0xDC00 || low > 0xDFFF {
				return &PathError{Problem: fmt.Sprintf(`lone surrogate \u%04x`, unit)}
			}
			i += 6
		}
	}
	return nil
}

// codeUnit reads the \uXXXX escape that starts at i, 0 when there is none.
func codeUnit(token []byte, i int) uint64 {
	if i+6 > len(token) || token[i] != '\\' || token[i+1] != 'u' {
		return 0
	}
	unit, err := strconv.ParseUint(string(token[i+2:i+6]), 16, 16)
	if err != nil {
		return 0
	}
	return unit
}

func checkNumberText(token []byte) *PathError {
	f, err := strconv.ParseFloat(string(token), 64)
	if err != nil {
		return &PathError{Problem: fmt.Sprintf("number %.40s does not fit a double", token)}
	}
	integer := !bytes.ContainsAny(token, ".eE")
	if integer && math.Abs(f) > maxExactInteger {
		return beyondExact(string(token))
	}
	return checkFloat(f)
}

// checkFloat refuses a double that is not finite or that is written as an
// integer no reader is sure to keep.
func checkFloat(f float64) *PathError {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return &PathError{Problem: fmt.Sprintf("number %v is not finite", f)}
	}
	if abs := math.Abs(f); abs > maxExactInteger && abs < exponentFrom {
		return beyondExact(strconv.FormatFloat(f, 'f', -1, 64))
	}
	return nil
}

func beyondExact(number string) *PathError {
	return &PathError{Problem: fmt.Sprintf("integer %.40s is beyond ±(2^53-1)", number)}
}

func tooDeep() *PathError {
	return &PathError{Problem: fmt.Sprintf("nested deeper than %d", maxDepth)}
}
