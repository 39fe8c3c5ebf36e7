package input

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/term"
	"pgregory.net/rapid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// read feeds pieces and returns what came out, keys joined.
func read(pieces ...string) []string {
	var p Parser
	var out []string
	var keys bytes.Buffer
	note := func(events []Event) {
		for _, e := range events {
			if e.Keys != nil {
				keys.Write(e.Keys)
				continue
			}
			if keys.Len() > 0 {
				out = append(out, keys.String())
				keys.Reset()
			}
			switch {
			case e.Paste != nil:
				out = append(out, "paste:"+*e.Paste)
			case e.Attributes:
				out = append(out, "attributes")
			default:
				out = append(out, "background:"+e.Background)
			}
		}
	}
	for _, piece := range pieces {
		note(p.Feed([]byte(piece)))
	}
	for range 40 {
		note(p.Idle())
	}
	if keys.Len() > 0 {
		out = append(out, keys.String())
	}
	if p.Pending() {
		out = append(out, "stuck:"+string(p.rest))
	}
	return out
}

func TestParser(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"keys", "abc\x1b[A\x1bOPx\r", []string{"abc\x1b[A\x1bOPx\r"}},
		{"escape", "\x1b", []string{"\x1b"}},
		{"escape twice", "\x1b\x1b", []string{"\x1b\x1b"}},
		{"alt", "\x1ba\x1b\r", []string{"\x1ba\x1b\r"}},
		{"alt and a bracket", "\x1b]", []string{"\x1b]"}},
		{"alt and the other bracket", "\x1b[", []string{"\x1b["}},
		{"a paste", "a\x1b[200~b\rc\x1b[201~d", []string{"a", "paste:b\rc", "d"}},
		{"an end marker in the text", "\x1b[200~a\x1b[201~\rrm -rf /\r\x1b[201~", []string{"paste:a\x1b[201~\rrm -rf /\r"}},
		{"two pastes", "\x1b[200~a\x1b[201~x\x1b[200~b\x1b[201~", []string{"paste:a", "x", "paste:b"}},
		{"an end without a start", "a\x1b[201~b", []string{"ab"}},
		{"a start in the text", "\x1b[200~a\x1b[200~b\x1b[201~", []string{"paste:a\x1b[200~b"}},
		{"the background", "a\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\\x1b[?62;22cb", []string{"a", "background:rgb:1e1e/1e1e/1e1e", "attributes", "b"}},
		{"the background, short end", "\x1b]11;rgb:ff/ff/ff\x07", []string{"background:rgb:ff/ff/ff"}},
		{"half an answer is not typed", "\x1b]11;rgb:1e", nil},
		{"a version", "a\x1bP>|xterm(390)\x1b\\b", []string{"ab"}},
		{"a capability", "\x1bP1+r544e=787465726d\x1b\\\x1bP0$r\x1b\\x", []string{"x"}},
		{"a picture's answer", "\x1b_Gi=31;OK\x1b\\x", []string{"x"}},
		{"half a version is not typed", "\x1bP>|xter", nil},
		{"alt and a capital", "\x1bP\x1b_\x1bPx", []string{"\x1bP\x1b_\x1bPx"}},
		{"shift+enter of xterm", "\x1b[27;2;13~", []string{"\n"}},
		{"shift+enter of kitty", "\x1b[13;2u", []string{"\n"}},
		{"ctrl+shift+c", "\x1b[27;6;99~", []string{"\x03"}},
		{"alt+shift+a", "\x1b[27;4;65~", []string{"\x1bA"}},
		{"a key that stays", "\x1b[1;5C\x1b[3~", []string{"\x1b[1;5C\x1b[3~"}},
	} {
		if diff := cmp.Diff(c.want, read(c.in)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// B071: a paste whose end never comes does not keep a person from getting out, and its
// text is not lost.
func TestAbandonedPaste(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"\x1b", "\x03"} {
		var p Parser
		quiet := func() (got []Event) {
			for range silence {
				got = append(got, p.Idle()...)
			}
			return got
		}
		if got := append(p.Feed([]byte("\x1b[200~half")), quiet()...); len(got) > 0 || !p.Pending() {
			t.Fatalf("an open paste gave %+v", got)
		}
		if got := p.Feed([]byte(key)); len(got) > 0 {
			t.Fatalf("%q at once gave %+v: it may be the beginning of the end marker", key, got)
		}
		got := quiet()
		if len(got) != 2 || got[0].Paste == nil || *got[0].Paste != "half" || string(got[1].Keys) != key {
			t.Errorf("%q gave %+v", key, got)
		}
	}
}

// B071: what a slow line cuts into single bytes stays one paste.
func TestSlowPasteIsOnePaste(t *testing.T) {
	t.Parallel()
	var p Parser
	var got []Event
	for i, b := range []byte("\x1b[200~a\x03b\x1b[201~") {
		got = append(got, p.Feed([]byte{b})...)
		for range silence - 1 {
			if i >= len(pasteStart) {
				got = append(got, p.Idle()...)
			}
		}
	}
	got = append(got, p.Idle()...)
	if len(got) != 1 || got[0].Paste == nil || *got[0].Paste != "a\x03b" {
		t.Errorf("got %+v", got)
	}
}

// P-TERM-1, B071: how the bytes are cut into reads changes nothing.
func TestSplitsChangeNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"a", "\x1b[A", "\x1b[200~p\r\x1b[q", "\x1b[201~", "\x1b]11;rgb:0/0/0\x07", "\x1b[?1c", "\x1bOP", "\x1b[27;2;13~", "界"})).Draw(t, "parts")
		in := strings.Join(parts, "")
		whole := read(in)
		var pieces []string
		for len(in) > 0 {
			n := rapid.IntRange(1, len(in)).Draw(t, "n")
			pieces, in = append(pieces, in[:n]), in[n:]
		}
		if diff := cmp.Diff(whole, read(pieces...)); diff != "" {
			t.Fatalf("%q: %s", pieces, diff)
		}
	})
}

func FuzzParser(f *testing.F) {
	f.Add([]byte("\x1b[200~a\x1b[201~\x1b]11;x\x07\x1b[13;2u"))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, got := range read(string(b)) {
			if strings.HasPrefix(got, "stuck:") && !bytes.Contains(b, pasteStart) {
				t.Fatalf("%q is stuck with %q", b, got)
			}
		}
	})
}

func TestIsDark(t *testing.T) {
	t.Parallel()
	for colour, want := range map[string][2]bool{
		"rgb:0000/0000/0000": {true, true}, "rgb:ffff/ffff/ffff": {false, true}, "rgb:ff/ff/d7": {false, true}, "rgb:1/1/2": {true, true},
		"rgba:2828/2828/2828/ffff": {true, true}, "": {false, false}, "rgb:x/y/z": {false, false}, "blue": {false, false}, "rgb://": {false, false},
	} {
		if dark, ok := IsDark(colour); dark != want[0] || ok != want[1] {
			t.Errorf("%q: %v %v", colour, dark, ok)
		}
	}
}

// open returns a pump on a raw terminal, and the other end of that terminal.
func open(t *testing.T) (*Pump, *os.File) {
	t.Helper()
	person, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := term.MakeRaw(int(tty.Fd())); err != nil {
		t.Fatal(err)
	}
	p, err := New(tty)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close(); tty.Close(); person.Close() })
	return p, person
}

func expect(t *testing.T, p *Pump, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(p.Keys(), got); err != nil || string(got) != want {
		t.Fatalf("read %q, %v; want %q", got, err, want)
	}
}

// B071: a large paste keeps its place among the keys and is picked up whole.
func TestPumpKeepsOrderAndPastes(t *testing.T) {
	t.Parallel()
	p, person := open(t)
	text := strings.Repeat("a line with\ttabs\r\n", 3000) + "\x1b[201~ fake\r"
	go io.WriteString(person, "ab\x1b[200~"+text+"\x1b[201~\rcd")
	expect(t, p, "ab\x1b[200~car-paste:1\x1b[201~\rcd")
	got, ok := p.Paste("car-paste:1")
	if !ok || got != text {
		t.Errorf("the paste came as %d bytes of %d", len(got), len(text))
	}
	if _, again := p.Paste("car-paste:1"); again {
		t.Error("a paste was picked up twice")
	}
}

// P-TERM-2: while another process has the terminal, its input is not taken.
func TestPausedPumpLeavesTheTerminalAlone(t *testing.T) {
	t.Parallel()
	p, person := open(t)
	io.WriteString(person, "a")
	expect(t, p, "a")
	p.Pause()
	io.WriteString(person, "theirs")
	theirs := make([]byte, 6)
	if _, err := io.ReadFull(p.tty, theirs); err != nil || string(theirs) != "theirs" {
		t.Fatalf("the other process read %q, %v", theirs, err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	io.WriteString(person, "b")
	expect(t, p, "b")
}

func TestBackgroundArrivesWithoutBecomingKeys(t *testing.T) {
	t.Parallel()
	p, person := open(t)
	io.WriteString(person, "typed\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62c ahead")
	if got := <-p.Background(); got != "rgb:ffff/ffff/ffff" {
		t.Errorf("got %q", got)
	}
	expect(t, p, "typed ahead")
}

// P-TERM-2: a terminal that went away is noticed, once.
func TestGone(t *testing.T) {
	t.Parallel()
	p, person := open(t)
	person.Close()
	<-p.Gone()
	p.Pause()
}
