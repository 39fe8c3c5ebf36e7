package wire

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

type shown struct {
	Name, Data string
	Cut        bool
}

func readFrames(r io.Reader, limit int) ([]shown, error) {
	f := newFrames(bufio.NewReader(r), limit)
	var got []shown
	for {
		frame, err := f.next()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, shown{frame.Name, string(frame.Data), frame.Cut})
	}
}

// A-LLM-5, A-LLM-7: every spelling of an event, read whole or byte by byte.
func TestFrames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text string
		want       []shown
	}{
		{"nothing", "", nil},
		{"LF", "data: a\n\ndata: b\n\n", []shown{{Data: "a"}, {Data: "b"}}},
		{"CRLF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []shown{{"x", "a", false}, {Data: "b"}}},
		{"CR", "event: x\rdata: a\r\rdata: b\r\r", []shown{{"x", "a", false}, {Data: "b"}}},
		{"no space after the colon", "data:a\n\n", []shown{{Data: "a"}}},
		{"only one space is taken", "data:  a \n\n", []shown{{Data: " a "}}},
		{"several data lines", "data: {\ndata: }\n\n", []shown{{Data: "{\n}"}}},
		{"an empty data line", "data\n\n", []shown{{Data: ""}}},
		{"comments", ": waiting\n\n: still\ndata: a\n: more\n\n", []shown{{Data: "a"}}},
		{"unknown fields", "id: 7\nretry: 3\nfoo: bar\ndata: a\n\n", []shown{{Data: "a"}}},
		{"a name without data is no event", "event: ping\n\ndata: a\n\n", []shown{{Data: "a"}}},
		{"byte order mark", "\ufeffdata: a\n\n", []shown{{Data: "a"}}},
		{"many blank lines", "\n\n\ndata: a\n\n\n\n", []shown{{Data: "a"}}},
		{"UTF-8", "data: é漢😀\n\n", []shown{{Data: "é漢😀"}}},
		{"ended before the blank line", "data: a\n\ndata: b\n", []shown{{Data: "a"}, {"", "b", true}}},
		{"ended inside a line", "data: a\n\ndata: {\"b", []shown{{Data: "a"}, {"", "{\"b", true}}},
		{"ended inside a field name", "data: a\n\ndat", []shown{{Data: "a"}}},
	} {
		for mode, r := range map[string]io.Reader{"whole": strings.NewReader(tc.text), "byte by byte": iotest.OneByteReader(strings.NewReader(tc.text))} {
			got, err := readFrames(r, maxEvent)
			if err != nil {
				t.Errorf("%s, %s: %v", tc.name, mode, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s, %s: %s", tc.name, mode, diff)
			}
		}
	}
}

// An endless line, endless lines and an endless comment are all bounded.
func TestFramesBounded(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one line":    "data: " + strings.Repeat("x", 100),
		"many lines":  strings.Repeat("data: xxx\n", 20),
		"one comment": ":" + strings.Repeat("x", 100),
		"field names": strings.Repeat("x\n", 101),
	} {
		if _, err := readFrames(strings.NewReader(text), 100); !errors.Is(err, errEventTooLarge) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if got, err := readFrames(strings.NewReader(strings.Repeat("data: xxx\n\n", 1000)), 100); err != nil || len(got) != 1000 {
		t.Errorf("a long stream of small events: %d, %v", len(got), err)
	}
	comments := strings.Repeat(": keep-alive\n\n", 1000)
	if _, err := readFrames(strings.NewReader(comments), 100); err != nil {
		t.Errorf("a long wait: %v", err)
	}
}

func FuzzFrames(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: x\r\ndata: a\rdata\n\r\n", ": c\n\n", "\ufeffdata:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole, err := readFrames(strings.NewReader(text), maxEvent)
		split, errSplit := readFrames(iotest.OneByteReader(strings.NewReader(text)), maxEvent)
		if diff := cmp.Diff(whole, split); diff != "" || (err == nil) != (errSplit == nil) {
			t.Errorf("%q: %v %v %s", text, err, errSplit, diff)
		}
		if strings.ContainsRune(text, '\r') {
			return
		}
		crlf, _ := readFrames(strings.NewReader(strings.ReplaceAll(text, "\n", "\r\n")), maxEvent)
		if diff := cmp.Diff(whole, crlf); diff != "" {
			t.Errorf("%q with CRLF: %s", text, diff)
		}
	})
}
