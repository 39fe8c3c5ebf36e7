package eventlog_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

func writeLines(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func verify(t *testing.T, path string) eventlog.Verification {
	t.Helper()
	v, err := eventlog.VerifyFile(path, eventlog.GenesisOf("s1"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// E-LOG-6, named behaviour "edit, delete, swap found by index".
func TestTamperingIsFoundByIndex(t *testing.T) {
	t.Parallel()
	_, text := sampleLog(t, 5)
	l := strings.SplitAfter(text, "\n")[:5]
	edit := func(line, old, new string) string {
		edited := strings.Replace(line, old, new, 1)
		if edited == line {
			t.Fatalf("%q is not in %s", old, line)
		}
		return edited
	}
	for _, c := range []struct {
		name  string
		lines []string
		at    int
	}{
		{"untouched", l, -1},
		{"a value edited", []string{l[0], l[1], edit(l[2], `"n":2`, `"n":3`), l[3], l[4]}, 2},
		{"a text edited", []string{edit(l[0], "größe", "grösse"), l[1]}, 0},
		{"the kind edited", []string{l[0], edit(l[1], "action_succeeded", "action_failed")}, 1},
		{"the time edited", []string{l[0], edit(l[1], ":06Z", ":16Z")}, 1},
		{"an id added", []string{l[0], edit(l[1], `"data"`, `"run_id":"r","data"`)}, 1},
		{"an unknown member added", []string{l[0], edit(l[1], `"data"`, `"note":"hello","data"`)}, 1},
		{"a member doubled", []string{l[0], edit(l[1], `"data"`, `"data":{},"data"`)}, 1},
		{"a member of data doubled", []string{l[0], edit(l[1], `"n":1`, `"n":9,"n":1`)}, 1},
		{"one deleted", []string{l[0], l[2], l[3]}, 1},
		{"two swapped", []string{l[0], l[2], l[1], l[3]}, 1},
		{"one repeated", []string{l[0], l[1], l[1], l[2]}, 2},
		{"a hash taken off", []string{l[0], edit(l[1], `,"hash":"`, `,"hush":"`), l[2]}, 1},
		{"the first hash taken off", []string{edit(l[0], `,"hash":"`, `,"hush":"`), l[1]}, 0},
		{"garbage", []string{l[0], l[1], "x\n", l[2]}, 2},
		{"other spelling of the same event", []string{l[0], edit(l[1], `,"data"`, ` , "data"`), l[2]}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := verify(t, writeLines(t, c.lines...))
			if v.TamperedAt != c.at || v.Intact() != (c.at < 0) || (v.Reason == "") != (c.at < 0) {
				t.Errorf("tampered at %d (%s), want %d", v.TamperedAt, v.Reason, c.at)
			}
			if want := c.at; want >= 0 && v.Verified+v.Skipped != want {
				t.Errorf("verified %d before it, want %d", v.Verified, want)
			}
		})
	}
}

// E-LOG-6: no bit of a chained file can turn without being found at its line,
// short of another spelling of the same event.
func TestEveryBitIsCovered(t *testing.T) {
	t.Parallel()
	_, text := sampleLog(t, 3)
	path := filepath.Join(t.TempDir(), "flipped.jsonl")
	for i := range len(text) - 1 {
		flipped := []byte(text)
		flipped[i] ^= 1
		if err := os.WriteFile(path, flipped, 0o600); err != nil {
			t.Fatal(err)
		}
		if v := verify(t, path); v.TamperedAt != strings.Count(text[:i], "\n") {
			t.Fatalf("byte %d, %q to %q: %+v", i, text[i], flipped[i], v)
		}
	}
}

// E-LOG-6: the hash is SHA-256 over the canonical event with prev_hash and
// without hash, so anybody can compute it.
func TestHashIsOfTheCanonicalEvent(t *testing.T) {
	t.Parallel()
	l := open(t, eventlog.Config{Chain: true, Genesis: eventlog.GenesisOf("s1")})
	got := appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted, Data: map[string]any{"b": 1, "a": "é"}})
	genesis := string(ir.DigestBytes([]byte("car-chain-v1:s1")))
	want := ir.DigestBytes([]byte(`{"data":{"a":"é","b":1},"kind":"run_started","prev_hash":"` + genesis + `","seq":1,"timestamp":"2026-01-02T03:04:05Z"}`))
	if got.Hash != string(want) || got.PrevHash != genesis {
		t.Errorf("hash %s after %s, want %s", got.Hash, got.PrevHash, want)
	}
	seq, head := l.Head()
	if v, err := l.Verify(); err != nil || seq != 1 || v.Head != head || head != got.Hash || v.Base != genesis || v.HeadSeq != 1 {
		t.Errorf("head %d %s, verified %+v, %v", seq, head, v, err)
	}
}

// E-LOG-6: events before the log was chained are skipped; the first chained one
// stands on the genesis.
func TestChainingAnOldLog(t *testing.T) {
	t.Parallel()
	c := eventlog.Config{Path: journalPath(t)}
	l := open(t, c)
	for range 3 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
	}
	if v, err := l.Verify(); err != nil || v.Skipped != 3 || !v.Intact() {
		t.Errorf("unchained: %+v, %v", v, err)
	}
	l.Close()
	c.Chain, c.Genesis = true, eventlog.GenesisOf("s1")
	l = open(t, c)
	for range 2 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunCompleted})
	}
	if v, err := l.Verify(); err != nil || v.Skipped != 3 || v.Verified != 2 || v.Base != c.Genesis {
		t.Errorf("chained: %+v, %v", v, err)
	}
	if v, err := eventlog.VerifyFile(c.Path, "another"); err != nil || v.TamperedAt != 3 {
		t.Errorf("the first chained event on another genesis: %+v, %v", v, err)
	}
	lines := strings.SplitAfter(read(t, c.Path), "\n")
	if v := verify(t, writeLines(t, lines[3], lines[0])); v.TamperedAt != 1 {
		t.Errorf("an event without a hash behind one with: %+v", v)
	}
}

// E-LOG-6: another session's log is found at its first event.
func TestAnotherGenesis(t *testing.T) {
	t.Parallel()
	path, _ := sampleLog(t, 2)
	if v, err := eventlog.VerifyFile(path, eventlog.GenesisOf("s2")); err != nil || v.TamperedAt != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// E-LOG-6: a log whose head retention took away stands on what its first event
// names, which a caller can compare.
func TestBaseOfATrimmedLog(t *testing.T) {
	t.Parallel()
	_, text := sampleLog(t, 4)
	lines := strings.SplitAfter(text, "\n")
	v := verify(t, writeLines(t, lines[2], lines[3]))
	if !v.Intact() || v.Verified != 2 || v.Base == eventlog.GenesisOf("s1") || !strings.Contains(lines[1], `"hash":"`+v.Base+`"`) {
		t.Errorf("%+v", v)
	}
}

// E-LOG-6: a log that is open knows how far it went, so that its file can not end
// early, be emptied or be an older copy of itself.
func TestAnOpenLogFindsTruncation(t *testing.T) {
	t.Parallel()
	c := eventlog.Config{Path: journalPath(t), Chain: true, Genesis: eventlog.GenesisOf("s1")}
	l := open(t, c)
	for i := range 4 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted, Data: map[string]any{"n": i}})
	}
	text := read(t, c.Path)
	for keep := range 4 {
		cut := strings.Join(strings.SplitAfter(text, "\n")[:keep], "")
		if err := os.WriteFile(c.Path, []byte(cut), 0o600); err != nil {
			t.Fatal(err)
		}
		v, err := l.Verify()
		if err != nil || v.TamperedAt != keep || v.Verified != keep || v.Reason != fmt.Sprintf("the log ends at event %d, its newest is 4", keep) {
			t.Errorf("cut to %d events: %+v, %v", keep, v, err)
		}
	}
	if err := os.Remove(c.Path); err != nil {
		t.Fatal(err)
	}
	if v, err := l.Verify(); err == nil {
		t.Errorf("without a file: %+v", v)
	}
}

// The zero verification is no clean bill.
func TestZeroVerificationIsBad(t *testing.T) {
	t.Parallel()
	if (eventlog.Verification{}).Intact() {
		t.Error("the zero value says that all is well")
	}
}
