package textfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Encoding is how a file's bytes are text. The zero value is unknown: such a
// file is shown lossy and never edited.
type Encoding uint8

// The encodings.
const (
	Unknown Encoding = iota
	UTF8
	UTF8BOM
	UTF16LE
	UTF16BE
	Windows1252
)

// String is the label that results carry.
func (e Encoding) String() string {
	return [...]string{"unknown", "utf-8", "utf-8-bom", "utf-16le", "utf-16be", "windows-1252"}[e]
}

const bom = "\xef\xbb\xbf"

// Decode finds the encoding of raw and returns its text without a byte order
// mark. The text of an unknown encoding is lossy.
func Decode(raw []byte) (Encoding, string) {
	switch {
	case bytes.HasPrefix(raw, []byte(bom)) && utf8.Valid(raw):
		return UTF8BOM, string(raw[len(bom):])
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}):
		if text, ok := decodeUTF16(raw[2:], binary.LittleEndian); ok {
			return UTF16LE, text
		}
	case bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		if text, ok := decodeUTF16(raw[2:], binary.BigEndian); ok {
			return UTF16BE, text
		}
	case utf8.Valid(raw):
		return UTF8, string(raw)
	}
	if text, ok := decode1252(raw); ok {
		return Windows1252, text
	}
	return Unknown, strings.ToValidUTF8(string(raw), "\uFFFD")
}

// decodeUTF16 refuses odd lengths and lone surrogates, which would not come back.
func decodeUTF16(raw []byte, order binary.ByteOrder) (string, bool) {
	if len(raw)%2 != 0 {
		return "", false
	}
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = order.Uint16(raw[2*i:])
	}
	for i := 0; i < len(units); i++ {
		if r := rune(units[i]); utf16.IsSurrogate(r) {
			if i+1 == len(units) || utf16.DecodeRune(r, rune(units[i+1])) == utf8.RuneError {
				return "", false
			}
			i++
		}
	}
	return string(utf16.Decode(units)), true
}

// decode1252 accepts bytes that mean a character there, and no NUL.
func decode1252(raw []byte) (string, bool) {
	for _, b := range raw {
		switch b {
		case 0, 0x81, 0x8d, 0x8f, 0x90, 0x9d:
			return "", false
		}
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(raw)
	return string(text), err == nil
}

// Encode is the way back. A character that the encoding lacks is an error that names it.
func (e Encoding) Encode(text string) ([]byte, error) {
	switch e {
	case UTF8:
		return []byte(text), nil
	case UTF8BOM:
		return []byte(bom + text), nil
	case UTF16LE:
		return encodeUTF16(text, []byte{0xff, 0xfe}, binary.LittleEndian), nil
	case UTF16BE:
		return encodeUTF16(text, []byte{0xfe, 0xff}, binary.BigEndian), nil
	case Windows1252:
		return encode1252(text)
	}
	return nil, fmt.Errorf("the file's encoding is unknown")
}

func encodeUTF16(text string, raw []byte, order binary.AppendByteOrder) []byte {
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = order.AppendUint16(raw, unit)
	}
	return raw
}

func encode1252(text string) ([]byte, error) {
	raw := make([]byte, 0, len(text))
	for _, r := range text {
		b, ok := charmap.Windows1252.EncodeRune(r)
		if !ok || b == 0 {
			return nil, fmt.Errorf("the file is windows-1252, which has no %q (U+%04X)", r, r)
		}
		raw = append(raw, b)
	}
	return raw, nil
}

// Binary reports bytes that are no text: a NUL in the first 8 KiB, or more than
// 30 % control characters there (T-FILE-12).
func Binary(raw []byte) bool {
	head := raw[:min(len(raw), 8<<10)]
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		e, _ := Decode(head[:len(head)&^1])
		return e != UTF16LE && e != UTF16BE && !cutSurrogate(head)
	}
	controls := 0
	for _, b := range head {
		switch {
		case b == 0:
			return true
		case b < 0x20 && b != '\t' && b != '\n' && b != '\r' && b != '\f' && b != 0x1b || b == 0x7f:
			controls++
		}
	}
	return controls*10 > len(head)*3
}

// cutSurrogate tells a head that stops between two halves of a character.
func cutSurrogate(head []byte) bool {
	if len(head) < 8<<10 {
		return false
	}
	e, _ := Decode(head[:len(head)-2])
	return e == UTF16LE || e == UTF16BE
}

// Kind names what a binary file seems to be by its first bytes.
func Kind(raw []byte) string {
	for _, k := range []struct{ magic, name string }{
		{"\x89PNG\r\n\x1a\n", "image/png"}, {"\xff\xd8\xff", "image/jpeg"}, {"GIF8", "image/gif"}, {"%PDF-", "application/pdf"},
		{"PK\x03\x04", "application/zip"}, {"\x1f\x8b", "application/gzip"}, {"\x7fELF", "application/x-elf"}, {"MZ", "application/x-msdownload"},
		{"SQLite format 3\x00", "application/vnd.sqlite3"}, {"\xca\xfe\xba\xbe", "application/java-vm"}, {"\x00asm", "application/wasm"},
		{"\xfd7zXZ\x00", "application/x-xz"}, {"\x28\xb5\x2f\xfd", "application/zstd"}, {"OggS", "audio/ogg"}, {"ID3", "audio/mpeg"},
	} {
		if bytes.HasPrefix(raw, []byte(k.magic)) {
			return k.name
		}
	}
	if bytes.HasPrefix(raw, []byte("RIFF")) && len(raw) >= 12 && string(raw[8:12]) == "WEBP" {
		return "image/webp"
	}
	return "application/octet-stream"
}
