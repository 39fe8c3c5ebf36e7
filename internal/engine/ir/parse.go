package ir

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads a tool's output back from either form it is kept in (E-REND-4).
// JSON is itself. Text of Render gives an object: scalars and byte-counted blocks
// exactly, outcome fields as they were shown, records as their text. The first of
// a name that stands twice wins, so that nothing spliced in can replace a verdict;
// after a block only blocks count; reading stops at the first line that is no
// field, where a budget cut the text. Other text, a "[FAILED]" line included, is
// not output and gives false.
func Parse(text string) (any, bool) {
	var v any
	if json.Unmarshal([]byte(text), &v) == nil {
		return v, true
	}
	fields := make(map[string]any)
	blocks := false
	for text != "" {
		line, rest, _ := strings.Cut(text, "\n")
		name, tail, ok := readKey(line)
		if !ok {
			break
		}
		value, isBlock := any(nil), false
		if count, unit, ok := readHeader(tail); ok {
			value, rest = readBlock(rest, count, unit)
			isBlock = true
		} else if raw, ok := strings.CutPrefix(tail, ": "); ok && !blocks {
			value = readScalar(raw)
		} else {
			break
		}
		if _, dup := fields[name]; !dup {
			fields[name] = value
		}
		blocks = blocks || isBlock
		text = rest
	}
	return fields, len(fields) > 0
}

// readKey takes a name off the front of a line. A raw name has no space in it, so
// it ends before ": " or " (".
func readKey(line string) (name, tail string, ok bool) {
	if strings.HasPrefix(line, `"`) {
		dec := json.NewDecoder(strings.NewReader(line))
		if dec.Decode(&name) != nil {
			return "", "", false
		}
		return name, line[dec.InputOffset():], true
	}
	end := strings.IndexByte(line, ' ')
	if end < 0 {
		return "", "", false
	}
	if strings.HasSuffix(line[:end], ":") {
		end--
	}
	name, tail = line[:end], line[end:]
	first, _ := utf8.DecodeRuneInString(name)
	if name == "" || first == '[' || first == '…' || strings.ContainsFunc(name, unicode.IsSpace) {
		return "", "", false
	}
	return name, tail, true
}

// readHeader reads " (N bytes):" or " (N records):".
func readHeader(tail string) (count int, unit string, ok bool) {
	inner, open := strings.CutPrefix(tail, " (")
	inner, closed := strings.CutSuffix(inner, "):")
	digits, unit, both := strings.Cut(inner, " ")
	count, err := strconv.Atoi(digits)
	known := unit == "bytes" || unit == "records"
	return count, unit, open && closed && both && known && err == nil && count >= 0
}

// readBlock takes a block's content, or what is left of it, and the line break
// that ends it off the front of text.
func readBlock(text string, count int, unit string) (content, rest string) {
	end := 0
	if unit == "bytes" {
		end = floorRune(text, min(count, len(text)))
	} else {
		for range min(count, len(text)) {
			line := strings.IndexByte(text[end:], '\n')
			if line < 0 {
				end = len(text) + 1
				break
			}
			end += line + 1
		}
		end = min(max(end-1, 0), len(text))
	}
	return text[:end], strings.TrimPrefix(text[end:], "\n")
}

func readScalar(raw string) any {
	var v any
	if json.Unmarshal([]byte(raw), &v) == nil {
		return v
	}
	return raw
}
