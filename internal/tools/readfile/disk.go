package readfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"car/internal/engine/tool"
	"car/internal/tools/textfile"
	"car/internal/tools/wire"
)

// countBytes bounds how far beyond a page the lines of a large file are counted.
const countBytes = 256 << 20

// pageFromDisk shows lines of a file that is too large for memory. It cannot be
// edited, so nothing is noted. Nothing but the page is ever held.
func pageFromDisk(ctx context.Context, in input, f tool.File, head []byte) (tool.Execution, error) {
	encoding, text := textfile.Decode(trimRune(head))
	if encoding == textfile.UTF16LE || encoding == textfile.UTF16BE {
		return tool.Execution{}, wire.Fault(tool.TooLarge, "%q is %s and over %d MiB; convert or split it with a command", in.Path, encoding, loadBytes>>20)
	}
	info := f.Info()
	out := output{Path: in.Path, Encoding: encoding.String(), EOL: textfile.EOL(text), Bytes: info.Size, Outside: info.Outside}
	if in.ByteOffset != nil {
		return diskWindow(in, f, out)
	}
	s := &scanner{ctx: ctx, r: bufio.NewReaderSize(io.NewSectionReader(f, 0, 1<<62), 64<<10)}
	for range in.Offset - 1 {
		if _, _, err := s.line(0); err != nil {
			return tool.Execution{}, s.pastEnd(in, err)
		}
	}
	return s.page(in, out)
}

// page collects the lines asked for, then counts the rest.
func (s *scanner) page(in input, out output) (tool.Execution, error) {
	var shown []string
	size := 0
	end, clipped := false, false
	for len(shown) < in.Limit {
		at := s.at
		line, cut, err := s.line(maxChars * utf8.UTFMax)
		if errors.Is(err, io.EOF) {
			if end = true; len(shown) == 0 {
				return tool.Execution{}, s.pastEnd(in, err)
			}
			break
		}
		if err != nil {
			return tool.Execution{}, s.pastEnd(in, err)
		}
		head, more := textfile.Clip(strings.ToValidUTF8(line, "\uFFFD"), maxChars)
		if more > 0 || cut {
			clipped = true
			head += fmt.Sprintf(" …[cut, byte_offset %d shows the line]", at)
		}
		if size += len(head) + 8; size > maxBytes && len(shown) > 0 {
			break
		}
		shown = append(shown, head)
	}
	out.Content, out.StartLine, out.EndLine = textfile.Numbered(shown, in.Offset), in.Offset, in.Offset+len(shown)-1
	if end = end || s.rest(countBytes); end {
		out.TotalLines = &s.lines
	}
	if !end || out.EndLine < s.lines {
		out.NextOffset = out.EndLine + 1
	}
	out.Truncated = clipped || out.NextOffset > 0
	return done(out)
}

// scanner reads lines without ever holding a long one.
type scanner struct {
	ctx   context.Context
	r     *bufio.Reader
	at    int64
	lines int
}

// line reads one line and keeps at most keep bytes of it; cut says that there was more.
func (s *scanner) line(keep int) (kept string, cut bool, err error) {
	if err := s.ctx.Err(); err != nil {
		return "", false, wire.Canceled(err)
	}
	var b []byte
	for length := 0; ; {
		part, err := s.r.ReadSlice('\n')
		s.at += int64(len(part))
		length += len(part)
		if room := keep - len(b); room > 0 {
			b = append(b, part[:min(room, len(part))]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if s.ctx.Err() != nil {
				return "", false, wire.Canceled(s.ctx.Err())
			}
		case errors.Is(err, io.EOF) && length == 0:
			return "", false, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return "", false, err
		default:
			s.lines++
			return string(bytes.TrimSuffix(bytes.TrimSuffix(b, []byte("\n")), []byte("\r"))), length > keep+len("\r\n"), nil
		}
	}
}

// rest counts the lines that follow, as far as max bytes; true when it saw the end.
func (s *scanner) rest(max int64) bool {
	open := false
	for stop := s.at + max; s.at < stop && s.ctx.Err() == nil; {
		part, err := s.r.ReadSlice('\n')
		s.at += int64(len(part))
		if open = err != nil && (open || len(part) > 0); !open && err == nil {
			s.lines++
		}
		if errors.Is(err, io.EOF) {
			if open {
				s.lines++
			}
			return true
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return false
		}
	}
	return false
}

func (s *scanner) pastEnd(in input, err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	return wire.Bad("offset %d is past the end of %q, which has %d lines", in.Offset, in.Path, s.lines)
}

// diskWindow shows raw text from a byte of a large file on.
func diskWindow(in input, f tool.File, out output) (tool.Execution, error) {
	buf := make([]byte, windowBytes)
	n, err := f.ReadAt(buf, *in.ByteOffset)
	if n == 0 {
		if errors.Is(err, io.EOF) {
			return tool.Execution{}, wire.Bad("byte_offset %d is past the end of %q, which has %d bytes", *in.ByteOffset, in.Path, out.Bytes)
		}
		return tool.Execution{}, wire.Fault(tool.Failed, "read %q: %v", in.Path, err)
	}
	part := buf[:n]
	if err == nil {
		part = trimRune(part)
		out.Truncated, out.ByteOffset = true, *in.ByteOffset+int64(len(part))
	}
	out.Content = strings.ToValidUTF8(string(part), "\uFFFD")
	return done(out)
}

// trimRune drops a character that the end of a buffer cut in two.
func trimRune(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if c := b[len(b)-i]; utf8.RuneStart(c) {
			if !utf8.FullRune(b[len(b)-i:]) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
