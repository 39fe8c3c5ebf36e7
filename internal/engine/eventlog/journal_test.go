package eventlog_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/engine/eventlog"
)

// sampleLog writes a chained log of n events and returns its path and text.
func sampleLog(t testing.TB, n int) (path, text string) {
	t.Helper()
	path = journalPath(t)
	l := open(t, eventlog.Config{Path: path, Chain: true, Genesis: eventlog.GenesisOf("s1")})
	for i := range n {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionSucceeded, ActionID: "a1", Data: map[string]any{"n": i, "text": "größe <b>", "list": []any{1.5, nil}}})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return path, read(t, path)
}

// E-LOG-1, style 3.8: a log that was cut anywhere opens with the whole events
// before the cut, says whether it dropped something, verifies, and goes on.
func TestCutAtEveryByte(t *testing.T) {
	t.Parallel()
	_, text := sampleLog(t, 4)
	path := filepath.Join(t.TempDir(), "cut.jsonl")
	for cut := range len(text) + 1 {
		if err := os.WriteFile(path, []byte(text[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		whole := strings.Count(text[:cut], "\n")
		torn := cut - strings.LastIndex(text[:cut], "\n") - 1
		events, err := eventlog.ReadFile(path)
		if err != nil || len(events) != whole {
			t.Fatalf("cut at %d: read %d events of %d, %v", cut, len(events), whole, err)
		}
		if v, err := eventlog.VerifyFile(path, eventlog.GenesisOf("s1")); err != nil || v.Verified != whole || !v.Intact() {
			t.Fatalf("cut at %d: %+v, %v", cut, v, err)
		}
		c := eventlog.Config{Path: path, Chain: true, Genesis: eventlog.GenesisOf("s1")}
		l := open(t, c)
		if n := l.Count(eventlog.Query{}); n != whole {
			t.Fatalf("cut at %d: opened with %d events of %d", cut, n, whole)
		}
		if said := strings.Contains(l.Notice(), fmt.Sprintf("dropped a torn last line of %d bytes", torn)); said != (torn > 0) {
			t.Fatalf("cut at %d: %d bytes torn, notice %q", cut, torn, l.Notice())
		}
		if e := appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted}); e.Seq != uint64(whole+1) {
			t.Fatalf("cut at %d: the next event is %d", cut, e.Seq)
		}
		if v, err := l.Verify(); err != nil || v.Verified != whole+1 {
			t.Fatalf("cut at %d and gone on: %+v, %v", cut, v, err)
		}
		l.Close()
	}
}

// E-LOG-1: any other line that is no event is an error that names it; a reader
// gets the events before it.
func TestBadLines(t *testing.T) {
	t.Parallel()
	_, text := sampleLog(t, 3)
	lines := strings.SplitAfter(text, "\n")
	for name, c := range map[string]struct{ bad, want string }{
		"garbage":         {"garbage\n", "line 2: not a JSON object"},
		"empty":           {"\n", "line 2: not a JSON object"},
		"zeros":           {strings.Repeat("\x00", 100) + "\n", "line 2: not a JSON object"},
		"two in a line":   {strings.TrimSuffix(lines[1], "\n") + lines[1], "line 2: not a JSON object"},
		"cut and gone on": {lines[1][:40] + lines[2], "line 2: "},
		"list":            {"[1]\n", "line 2: not a JSON object"},
		"unknown kind":    {strings.Replace(lines[1], "action_succeeded", "action_sung", 1), `line 2: member "kind": unknown event kind "action_sung"`},
		"no kind":         {`{"seq":2}` + "\n", "line 2: seq or kind is missing"},
		"no seq":          {`{"kind":"run_started"}` + "\n", "line 2: seq or kind is missing"},
		"twice a member":  {`{"seq":2,"kind":"run_started","seq":3}` + "\n", `line 2: member "seq" stands twice`},
		"wrong type":      {`{"seq":"2","kind":"run_started"}` + "\n", `line 2: member "seq"`},
		"bad time":        {`{"seq":2,"kind":"run_started","timestamp":"x"}` + "\n", `line 2: member "timestamp"`},
		"seq goes back":   {lines[0], "line 2: seq 1 after seq 1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "bad.jsonl")
			if err := os.WriteFile(path, []byte(lines[0]+c.bad+lines[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			before := read(t, path)
			l, err := eventlog.Open(eventlog.Config{Path: path, Now: clock()})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("opened as %v: %v, want %q", l, err, c.want)
			}
			if read(t, path) != before {
				t.Error("opening changed the file")
			}
			if name == "seq goes back" {
				return // a reader takes events as they stand
			}
			events, err := eventlog.ReadFile(path)
			if err == nil || !strings.Contains(err.Error(), c.want) || len(events) != 1 {
				t.Errorf("read %d events, %v, want 1 and %q", len(events), err, c.want)
			}
		})
	}
}

// Q-TEST-5: a line without an end does not make a reader hold it all.
func TestEndlessLine(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "sparse.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Truncate(2 << 30); err != nil {
		t.Fatal(err)
	}
	file.Close()
	if _, err := eventlog.ReadFile(path); err == nil || !strings.Contains(err.Error(), "line 1: longer than 67108864 bytes") {
		t.Errorf("got %v", err)
	}
	if _, err := eventlog.Open(eventlog.Config{Path: path, Now: clock()}); err == nil {
		t.Error("opened")
	}
}

// E-LOG-1: a missing file is an error for a reader, and so is a folder.
func TestReadFileThatIsNone(t *testing.T) {
	t.Parallel()
	for _, path := range []string{filepath.Join(t.TempDir(), "none.jsonl"), t.TempDir()} {
		if events, err := eventlog.ReadFile(path); err == nil || !strings.Contains(err.Error(), "read event log") || events != nil {
			t.Errorf("%s: %v, %v", path, events, err)
		}
	}
}

// Q-TEST-5, E-LOG-1: no file makes a reader panic; what reads verifies the same
// way each time, and what opens reads the same. It works on files, so give it
// -fuzzminimizetime=5x, or it spends its time on making finds smaller.
func FuzzReadLog(f *testing.F) {
	_, text := sampleLog(f, 3)
	lines := strings.SplitAfter(text, "\n")
	for _, seed := range []string{"", text, text[:len(text)-9], lines[1] + lines[0], lines[0] + "x\n" + lines[1], `{"seq":1,"kind":"run_started"}` + "\n", "\n\n", "{}\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "events.jsonl")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		events, readErr := eventlog.ReadFile(path)
		if whole := bytes.Count(data, []byte("\n")); len(events) > whole || readErr == nil && len(events) != whole {
			t.Fatalf("%d events of %d lines, %v", len(events), whole, readErr)
		}
		v, err := eventlog.VerifyFile(path, "g")
		if err != nil || v.Verified+v.Skipped > len(events) {
			t.Fatalf("%+v of %d events, %v", v, len(events), err)
		}
		l, err := eventlog.Open(eventlog.Config{Path: path, Now: clock(), Chain: true, Genesis: "g"})
		if err != nil {
			if after := read(t, path); after != string(data) {
				t.Fatal("a refused file was changed")
			}
			return
		}
		defer l.Close()
		if readErr != nil || l.Count(eventlog.Query{}) != len(events) {
			t.Fatalf("opened with %d events, read %d, %v", l.Count(eventlog.Query{}), len(events), readErr)
		}
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
		if after, err := eventlog.ReadFile(path); err != nil || len(after) != len(events)+1 {
			t.Fatalf("%d events after one more, %v", len(after), err)
		}
	})
}
