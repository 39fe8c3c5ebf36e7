package eventlog_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/engine/eventlog"
	"car/internal/engine/ir"
)

var testTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// clock ticks a second with every reading.
func clock() func() time.Time {
	now := testTime.Add(-time.Second)
	return func() time.Time { now = now.Add(time.Second); return now }
}

func open(t testing.TB, c eventlog.Config) *eventlog.Log {
	t.Helper()
	if c.Now == nil {
		c.Now = clock()
	}
	l, err := eventlog.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func appendTo(t testing.TB, l *eventlog.Log, e eventlog.Event) eventlog.Event {
	t.Helper()
	got, err := l.Append(e)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func journalPath(t testing.TB) string {
	return filepath.Join(t.TempDir(), "sessions", "s1", "events.jsonl")
}

func read(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// E-LOG-1: the wire form of an event, to the byte; unchained events have no hashes
// (E-LOG-6, "off: bytes as unchained").
func TestEventOnDisk(t *testing.T) {
	t.Parallel()
	path := journalPath(t)
	l := open(t, eventlog.Config{Path: path})
	appendTo(t, l, eventlog.Event{Kind: eventlog.ActionValidated, ActionID: "a1", ProposalID: "p1"})
	appendTo(t, l, eventlog.Event{
		Kind: eventlog.ActionSucceeded, RunID: "r1", ClientID: "c1", PolicySessionID: "ps1", ActionID: "a1", ProposalID: "p1",
		Data: map[string]any{"tool": "shell", "command": "a < b && c > d", "attempt": 1, "ok": true, "expected_effects": map[string]any{}},
		Seq:  99, Timestamp: time.Unix(0, 0), PrevHash: "x", Hash: "y",
	})
	want := `{"seq":1,"kind":"action_validated","action_id":"a1","proposal_id":"p1","data":{},"timestamp":"2026-01-02T03:04:05Z"}
{"seq":2,"kind":"action_succeeded","run_id":"r1","client_id":"c1","policy_session_id":"ps1","action_id":"a1","proposal_id":"p1",` +
		`"data":{"attempt":1,"command":"a < b && c > d","expected_effects":{},"ok":true,"tool":"shell"},"timestamp":"2026-01-02T03:04:06Z"}
`
	if diff := cmp.Diff(want, read(t, path)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

// E-LOG-1, P-GUARD-8: the file is its owner's alone, whatever it was before, and
// is never a device.
func TestFileModes(t *testing.T) {
	t.Parallel()
	path := journalPath(t)
	open(t, eventlog.Config{Path: path}).Close()
	if mode := fileMode(t, path); mode != 0o600 {
		t.Errorf("a new file has mode %o", mode)
	}
	if mode := fileMode(t, filepath.Dir(path)); mode != 0o700 {
		t.Errorf("its folder has mode %o", mode)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	open(t, eventlog.Config{Path: path}).Close()
	if mode := fileMode(t, path); mode != 0o600 {
		t.Errorf("an old file keeps mode %o", mode)
	}
	if _, err := eventlog.Open(eventlog.Config{Path: os.DevNull, Now: time.Now}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device as a log: %v", err)
	}
}

func fileMode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

// E-LOG-1: what is read back is what was appended, live and after opening again.
func TestReopen(t *testing.T) {
	t.Parallel()
	for _, chain := range []bool{false, true} {
		c := eventlog.Config{Path: journalPath(t), Chain: chain, Genesis: eventlog.GenesisOf("s1")}
		l := open(t, c)
		data := map[string]any{"n": 3, "list": []string{"a"}, "none": nil, "id": ir.ActionID("a1"), "status": ir.Succeeded, "when": testTime, "change": ir.StateChange{Op: "set"}}
		var appended []eventlog.Event
		for range 3 {
			appended = append(appended, appendTo(t, l, eventlog.Event{Kind: eventlog.StateChanged, Data: data}))
		}
		live := l.Query(eventlog.Query{})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		c.Chain = false // a chained file stays chained
		l = open(t, c)
		if diff := cmp.Diff(live, l.Query(eventlog.Query{})); diff != "" {
			t.Errorf("reopened (-live +reopened):\n%s", diff)
		}
		wantData := map[string]any{"n": 3.0, "list": []any{"a"}, "none": nil, "id": "a1", "status": "succeeded", "when": "2026-01-02T03:04:05Z", "change": map[string]any{"op": "set", "value": nil}}
		if diff := cmp.Diff(wantData, appended[2].Data); diff != "" || appended[2].Seq != 3 {
			t.Errorf("event %d (-want +got):\n%s", appended[2].Seq, diff)
		}
		if next := appendTo(t, l, eventlog.Event{Kind: eventlog.RunCompleted}); next.Seq != 4 || (next.Hash != "") != chain || chain && next.PrevHash != appended[2].Hash {
			t.Errorf("chained %v: the next event is %+v", chain, next)
		}
		if v, err := l.Verify(); err != nil || !v.Intact() || chain && v.Verified != 4 {
			t.Errorf("chained %v: %+v, %v", chain, v, err)
		}
		if l.Notice() != "" {
			t.Errorf("notice %q", l.Notice())
		}
	}
}

// E-LOG-1: changing what was appended, or what came out, changes no record of it.
func TestDataIsCopied(t *testing.T) {
	t.Parallel()
	l := open(t, eventlog.Config{})
	inner := []any{"x"}
	data := map[string]any{"list": inner}
	appendTo(t, l, eventlog.Event{Kind: eventlog.StateSnapshot, Data: data})
	inner[0], data["more"] = "changed", 1
	want := map[string]any{"list": []any{"x"}}
	if diff := cmp.Diff(want, l.Query(eventlog.Query{})[0].Data); diff != "" {
		t.Errorf("data (-want +got):\n%s", diff)
	}
}

// E-LOG-1, D-23: every string in data is redacted, wherever it stands and whatever
// Go type carries it; names, digests' originals and the caller's own value are not touched.
func TestRedaction(t *testing.T) {
	t.Parallel()
	const secret = "sk-test-AAAA1111BBBB2222"
	mask := func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	path := journalPath(t)
	l := open(t, eventlog.Config{Path: path, Redact: mask, Chain: true})
	data := map[string]any{
		"text": "key " + secret, "list": []any{secret, []string{secret}}, "deep": map[string]any{"a": map[string]any{"b": secret}},
		"struct": ir.Precondition{Key: secret, Value: map[string]any{"v": secret}}, "named": ir.ActionID(secret), "name " + secret: 1,
		"error": fmt.Errorf("told %s", secret).Error(),
	}
	got := appendTo(t, l, eventlog.Event{Kind: eventlog.ActionFailed, Data: data})
	for where, text := range map[string]string{"the event": fmt.Sprint(got.Data), "a query": fmt.Sprint(l.Query(eventlog.Query{})), "the file": read(t, path)} {
		if n := strings.Count(text, secret); n != 1 {
			t.Errorf("%s shows the secret %d times, the name alone may: %s", where, n, text)
		}
	}
	if data["text"] != "key "+secret {
		t.Error("the caller's own data was changed")
	}
	if v, err := l.Verify(); err != nil || v.Verified != 1 {
		t.Errorf("chain over redacted data: %+v, %v", v, err)
	}
}

// E-LOG-1: what can not be recorded is an error that says where, and leaves no
// trace; odd bytes in a text are marked and no reason to lose the record.
func TestAppendRefusals(t *testing.T) {
	t.Parallel()
	loop := map[string]any{}
	loop["self"] = loop
	path := journalPath(t)
	l := open(t, eventlog.Config{Path: path})
	for want, e := range map[string]eventlog.Event{
		"data.a: [1]: number NaN is not finite":    {Kind: eventlog.ActionFailed, Data: map[string]any{"a": []any{1, math.NaN()}}},
		"data.c: json: unsupported type: chan int": {Kind: eventlog.ActionFailed, Data: map[string]any{"c": make(chan int)}},
		"nested deeper than 512":                   {Kind: eventlog.ActionFailed, Data: loop},
		"event kind 0 has no label":                {},
		"event kind 200 has no label":              {Kind: 200},
		"more than fits in a record of 67108864":   {Kind: eventlog.ActionFailed, Data: map[string]any{"big": strings.Repeat("x", 65<<20)}},
	} {
		if _, err := l.Append(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %.200v, want %q", err, want)
		}
	}
	if l.Count(eventlog.Query{}) != 0 || read(t, path) != "" {
		t.Errorf("a refused event left a trace: %.100q", read(t, path))
	}
	got := appendTo(t, l, eventlog.Event{Kind: eventlog.ActionFailed, Data: map[string]any{"error": "open \xff.txt: not found"}})
	if got.Seq != 1 || got.Data["error"] != "open \uFFFD.txt: not found" {
		t.Errorf("event %+v", got)
	}
}

// E-LOG-1: a value deeper than any proposal still fits into the record of it.
func TestARecordWrapsWhatWasAccepted(t *testing.T) {
	t.Parallel()
	v := any("x")
	for range 128 {
		v = []any{v}
	}
	if err := ir.CheckValue(v); err != nil {
		t.Fatal(err)
	}
	path := journalPath(t)
	l := open(t, eventlog.Config{Path: path, Chain: true})
	appendTo(t, l, eventlog.Event{Kind: eventlog.StateChanged, Data: map[string]any{"changes": map[string]any{"k": map[string]any{"value": v}}}})
	if v, err := l.Verify(); err != nil || v.Verified != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	l.Close()
	open(t, eventlog.Config{Path: path})
}

// E-LOG-1: appends from many goroutines are one gapless sequence, in memory as on disk.
func TestConcurrentAppends(t *testing.T) {
	t.Parallel()
	path := journalPath(t)
	l := open(t, eventlog.Config{Path: path, Chain: true, Now: time.Now})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 50 {
				if _, err := l.Append(eventlog.Event{Kind: eventlog.ActionExecuting, Data: map[string]any{"w": w, "i": i}}); err != nil {
					t.Error(err)
				}
				l.Query(eventlog.Query{Limit: 1})
			}
		})
	}
	wg.Wait()
	events, err := eventlog.ReadFile(path)
	if err != nil || len(events) != 400 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	last := map[any]any{}
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			t.Fatalf("event %d has seq %d", i, e.Seq)
		}
		if prev, ok := last[e.Data["w"]]; ok && prev.(float64)+1 != e.Data["i"] {
			t.Fatalf("one writer's events are out of order: %v after %v", e.Data, prev)
		}
		last[e.Data["w"]] = e.Data["i"]
	}
	if v, err := l.Verify(); err != nil || v.Verified != 400 {
		t.Errorf("%+v, %v", v, err)
	}
}

// A closed log takes nothing more and stays readable.
func TestClose(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"", journalPath(t)} {
		l := open(t, eventlog.Config{Path: path})
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
		if err := errors.Join(l.Sync(), l.Close(), l.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Append(eventlog.Event{Kind: eventlog.RunStarted}); !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("append after close: %v", err)
		}
		if err := l.Sync(); !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("sync after close: %v", err)
		}
		if l.Count(eventlog.Query{}) != 1 {
			t.Error("the events are gone")
		}
	}
}

// A constructor names the field that is wrong.
func TestOpenRefusals(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]eventlog.Config{
		"Config.Now":       {},
		"Config.MaxEvents": {Now: time.Now, MaxEvents: -1},
		"Config.MaxAge":    {Now: time.Now, MaxAge: -1},
		"open event log":   {Now: time.Now, Path: filepath.Join(file, "events.jsonl")},
	} {
		if _, err := eventlog.Open(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// P-3: an append to a chained log takes at most 100 allocations, and to one in
// memory a handful.
func TestAppendAllocations(t *testing.T) {
	for name, c := range map[string]struct {
		config eventlog.Config
		most   float64
	}{
		"chained": {eventlog.Config{Path: journalPath(t), Chain: true, Genesis: eventlog.GenesisOf("s")}, 100},
		"memory":  {eventlog.Config{}, 2},
	} {
		l := open(t, c.config)
		e := eventlog.Event{Kind: eventlog.ActionValidated, ActionID: "a1b2c3d4e5f6", ProposalID: "f6e5d4c3b2a1"}
		n := testing.AllocsPerRun(200, func() {
			if _, err := l.Append(e); err != nil {
				t.Fatal(err)
			}
		})
		if n > c.most {
			t.Errorf("%s: %v allocations, %v at most", name, n, c.most)
		}
		runtime.KeepAlive(l)
	}
}
