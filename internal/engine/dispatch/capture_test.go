package dispatch

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func spoolIn(t *testing.T) func() (io.WriteCloser, string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out.txt")
	return func() (io.WriteCloser, string, error) {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		return f, path, err
	}
}

// P-TERM-4, T-SHELL-8, B075: both ends are kept, the middle is counted, all of it is on disk.
func TestCaptureKeepsBothEnds(t *testing.T) {
	t.Parallel()
	for _, chunk := range []int{1, 7, 4096, 300_000} {
		var whole bytes.Buffer
		for i := 0; whole.Len() < 700_000; i++ {
			fmt.Fprintf(&whole, "line %d\n", i)
		}
		c := newCapture(spoolIn(t))
		for rest := whole.Bytes(); len(rest) > 0; {
			n := min(chunk, len(rest))
			if _, err := c.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		text, truncated := c.Text()
		if !truncated || !strings.HasPrefix(text, whole.String()[:headBytes]) || !strings.HasSuffix(text, whole.String()[whole.Len()-tailBytes:]) {
			t.Fatalf("chunk %d: truncated %v, %d bytes", chunk, truncated, len(text))
		}
		if want := fmt.Sprintf("[%d bytes elided", whole.Len()-headBytes-tailBytes); !strings.Contains(text, want) {
			t.Errorf("chunk %d: no %q in the text", chunk, want)
		}
		onDisk, err := os.ReadFile(c.Path())
		if err != nil || !bytes.Equal(onDisk, whole.Bytes()) {
			t.Errorf("chunk %d: spool holds %d of %d bytes, err %v", chunk, len(onDisk), whole.Len(), err)
		}
	}
}

// T-SHELL-8: what fits is whole, needs no spool and has no marker.
func TestCaptureWhole(t *testing.T) {
	t.Parallel()
	c := newCapture(spoolIn(t))
	text := strings.Repeat("x", headBytes+tailBytes)
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	got, truncated := c.Text()
	if got != text || truncated || c.Path() != "" {
		t.Errorf("truncated %v, path %q, %d bytes", truncated, c.Path(), len(got))
	}
}

// A spool that cannot be written costs the spool, not the command.
func TestCaptureWithoutSpool(t *testing.T) {
	t.Parallel()
	c := newCapture(func() (io.WriteCloser, string, error) { return nil, "", io.ErrShortWrite })
	for range 3 {
		if _, err := c.Write(bytes.Repeat([]byte("y"), 200_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil || c.Path() != "" || c.Total() != 600_000 {
		t.Errorf("err %v, path %q, total %d", err, c.Path(), c.Total())
	}
}

// A-EVT: progress is the last line, bounded.
func TestCaptureLastLine(t *testing.T) {
	t.Parallel()
	c := newCapture(spoolIn(t))
	for _, step := range []struct{ in, want string }{{"a\nb", "b"}, {"c\n", "bc"}, {strings.Repeat("z", 2000), strings.Repeat("z", 512)}} {
		if _, err := c.Write([]byte(step.in)); err != nil {
			t.Fatal(err)
		}
		if got := c.LastLine(); got != step.want {
			t.Errorf("after %.10q: %.20q", step.in, got)
		}
	}
}
