package eventlog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/eventlog"
)

// anchors are a database's, as cmd/car lends them to a log.
type anchors struct {
	db *store.DB

	mu   sync.Mutex
	puts []string
	fail error
}

func (a *anchors) PutAnchor(session, anchor string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.fail != nil {
		return a.fail
	}
	a.puts = append(a.puts, anchor)
	return a.db.PutAnchor(context.Background(), session, anchor)
}

func (a *anchors) Anchor(session string) (string, bool, error) {
	return a.db.Anchor(context.Background(), session)
}

// written counts the anchors so far.
func (a *anchors) written() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.puts)
}

func (a *anchors) failWith(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fail = err
}

// anchored is a session's log with what it is anchored by.
type anchored struct {
	eventlog.Config
	store *anchors
}

func newAnchored(t testing.TB) anchored {
	t.Helper()
	db, err := store.Open(context.Background(), store.Config{Path: filepath.Join(t.TempDir(), "car.db"), Now: time.Now, Holder: store.Self()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	a := anchored{store: &anchors{db: db}}
	a.Config = eventlog.Config{Path: journalPath(t), Chain: true, Genesis: eventlog.GenesisOf("s1"),
		Anchoring: &eventlog.Anchoring{Session: "s1", Store: a.store, Key: []byte("a key of the test")}}
	return a
}

// write appends n events to the session and closes it.
func (a anchored) write(t testing.TB, n int) {
	t.Helper()
	l := open(t, a.Config)
	for range n {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionSucceeded, ActionID: "a1", Data: map[string]any{"tool": "shell"}})
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func (a anchored) audit(t testing.TB, expect string) eventlog.Audit {
	t.Helper()
	audit, err := eventlog.VerifyAnchored(a.Path, *a.Anchoring, expect)
	if err != nil {
		t.Fatal(err)
	}
	return audit
}

// lines are the log's, each with its end.
func (a anchored) lines(t testing.TB) []string {
	lines := strings.SplitAfter(read(t, a.Path), "\n")
	return lines[:len(lines)-1]
}

func (a anchored) replace(t testing.TB, lines ...string) {
	t.Helper()
	if err := os.WriteFile(a.Path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// B-CHAIN-1, named behaviour "cut line, emptied file, old copy detected": what was
// done to a log is told by verdict and reason.
func TestAudit(t *testing.T) {
	t.Parallel()
	a := newAnchored(t)
	a.write(t, 3)
	old := a.lines(t)
	a.write(t, 3) // the session goes on
	l := a.lines(t)
	edited := strings.Replace(l[2], "shell", "spell", 1)
	// Whoever can compute hashes but has no key makes the chain anew from there on.
	anew := newAnchored(t)
	anew.write(t, 7)
	forger := anew.lines(t)
	for _, c := range []struct {
		name         string
		lines        []string
		want, reason string
	}{
		{"untouched", l, "verified 6", ""},
		{"an edit", []string{l[0], l[1], edited, l[3], l[4], l[5]}, "tampered at 2", "edited: the event is not what its hash covers"},
		{"a deletion", []string{l[0], l[1], l[3], l[4], l[5]}, "tampered at 2", "deleted: event 3 is not there"},
		{"three deletions", []string{l[0], l[4], l[5]}, "tampered at 1", "deleted: events 2 to 4 are not there"},
		{"a swap", []string{l[0], l[2], l[1], l[3], l[4], l[5]}, "tampered at 1", "moved: event 2 stands behind event 3"},
		{"one put in", []string{l[0], l[1], l[1], l[2], l[3], l[4], l[5]}, "tampered at 2", "put in: event 2 stands behind event 2"},
		{"made anew", forger, "tampered at 5", "made anew: the event is not the one that was anchored"},
		{"a cut line", l[:5], "truncated: anchored 6, found 5", ""},
		{"half of the last line", []string{l[0], l[1], l[2], l[3], l[4], l[5][:20]}, "truncated: anchored 6, found 5", ""},
		{"an old copy", old, "truncated: anchored 6, found 3", ""},
		{"emptied", nil, "truncated: anchored 6, found 0", ""},
		{"its head cut off", l[2:], "head cut without a base", "it begins with event 3, and its base is event 0"},
	} {
		a.replace(t, c.lines...)
		audit := a.audit(t, "")
		if audit.String() != c.want || audit.Reason != c.reason || audit.OK() != strings.HasPrefix(c.want, "verified") {
			t.Errorf("%s: %q (%s), want %q (%s)", c.name, audit, audit.Reason, c.want, c.reason)
		}
	}
	if err := os.Remove(a.Path); err != nil {
		t.Fatal(err)
	}
	if audit := a.audit(t, ""); audit.String() != "truncated: anchored 6, found 0" {
		t.Errorf("removed: %q", audit)
	}
}

// B-CHAIN-1: an anchor that is gone, or that the key did not write, proves nothing.
func TestAuditOfTheAnchor(t *testing.T) {
	t.Parallel()
	a := newAnchored(t)
	a.write(t, 2)
	text, _, err := a.store.Anchor("s1")
	if err != nil {
		t.Fatal(err)
	}
	for name, forged := range map[string]string{
		"a number changed": strings.Replace(text, `"seq":2`, `"seq":1`, 1), "no anchor at all": `{}`, "a list": `[]`,
	} {
		if err := a.store.PutAnchor("s1", forged); err != nil || forged == text {
			t.Fatal(err, forged)
		}
		if audit := a.audit(t, ""); audit.String() != "anchor forged" || audit.OK() {
			t.Errorf("%s: %q", name, audit)
		}
	}
	if err := a.store.PutAnchor("s1", text); err != nil {
		t.Fatal(err)
	}
	another := *a.Anchoring
	another.Key = []byte("another key")
	if audit, err := eventlog.VerifyAnchored(a.Path, another, ""); err != nil || audit.String() != "anchor forged" {
		t.Errorf("with another key: %q, %v", audit, err)
	}
	if err := a.store.PutAnchor("s2", text); err != nil {
		t.Fatal(err)
	}
	another = *a.Anchoring
	another.Session = "s2"
	c := a.Config
	c.Path, c.Genesis, c.Anchoring = journalPath(t), eventlog.GenesisOf("s2"), nil
	l := open(t, c)
	appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
	if audit, err := eventlog.VerifyAnchored(c.Path, another, ""); err != nil || audit.String() != "anchor forged" {
		t.Errorf("another session's anchor: %q, %v", audit, err)
	}
	another.Session = "s3"
	c.Path, c.Genesis = journalPath(t), eventlog.GenesisOf("s3")
	l = open(t, c)
	appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
	if audit, err := eventlog.VerifyAnchored(c.Path, another, ""); err != nil || audit.String() != "anchor missing" || audit.OK() {
		t.Errorf("no anchor: %q, %v", audit, err)
	}
	another.Session = "s4"
	if _, err := eventlog.VerifyAnchored(c.Path+".none", another, ""); err == nil {
		t.Error("neither log nor anchor is no error")
	}
	if (eventlog.Audit{}).OK() {
		t.Error("the zero audit says that all is well")
	}
}

// B-CHAIN-1: a head that a session printed is looked for, also in a log that went
// on since; it stands against somebody who has the key.
func TestExpectedHead(t *testing.T) {
	t.Parallel()
	a := newAnchored(t)
	a.write(t, 3)
	head := a.audit(t, "").Chain.Head
	a.write(t, 2)
	if audit := a.audit(t, head); audit.String() != "verified 5" {
		t.Errorf("gone on: %q (%s)", audit, audit.Reason)
	}
	if audit := a.audit(t, eventlog.GenesisOf("s1")); audit.String() != "verified 5" {
		t.Errorf("the genesis is not in the log: %q", audit)
	}
	// The same history without its last event, anchored by the same key.
	forger := newAnchored(t)
	forger.write(t, 2)
	forged, _, err := forger.store.Anchor("s1")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.store.PutAnchor("s1", forged); err != nil {
		t.Fatal(err)
	}
	a.replace(t, forger.lines(t)...)
	if audit := a.audit(t, ""); audit.String() != "verified 2" {
		t.Errorf("with the key and without a head: %q", audit)
	}
	if audit := a.audit(t, head); audit.String() != "tampered at 2" || audit.Reason != "the head that was expected is not in this record" {
		t.Errorf("with the key and a head: %q (%s)", audit, audit.Reason)
	}
}

// B-CHAIN-1: the anchor follows its event within 1 s, at 256 events, at a run's end
// and at close, and Append waits for none of that.
func TestWhenAnchorsAreWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAnchored(t)
		l := open(t, a.Config)
		wrote := func(name string, want int) {
			t.Helper()
			synctest.Wait()
			if got := a.store.written(); got != want {
				t.Errorf("%s: %d anchors, want %d", name, got, want)
			}
		}
		wrote("a new log is anchored before its first event", 1)
		step := eventlog.Event{Kind: eventlog.ActionExecuting}
		appendTo(t, l, step)
		time.Sleep(999 * time.Millisecond)
		appendTo(t, l, step)
		wrote("before a second has passed", 1)
		time.Sleep(time.Millisecond)
		wrote("a second after the first event", 2)
		time.Sleep(time.Hour)
		wrote("nothing new, no anchor", 2)
		for range 255 {
			appendTo(t, l, step)
		}
		wrote("255 events at once", 2)
		appendTo(t, l, step)
		wrote("256 events at once", 3)
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunCompleted})
		wrote("at the run's end", 4)
		appendTo(t, l, step)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		wrote("at close", 5)
		if audit := a.audit(t, ""); audit.String() != "verified 260" {
			t.Errorf("%q (%s)", audit, audit.Reason)
		}
	})
}

// B-CHAIN-1: an anchor that cannot be written is tried again, holds up no event,
// and is told at close.
func TestAnchorsThatFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := newAnchored(t)
		l := open(t, a.Config)
		a.store.failWith(errors.New("no room"))
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunCompleted})
		time.Sleep(2500 * time.Millisecond)
		a.store.failWith(nil)
		time.Sleep(time.Second)
		if n := a.store.written(); n != 2 {
			t.Errorf("%d anchors after it worked again", n)
		}
		a.store.failWith(errors.New("no room"))
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
		if err := l.Close(); err == nil || !strings.Contains(err.Error(), "anchor "+a.Path+": no room") {
			t.Errorf("close says %v", err)
		}
		if audit := a.audit(t, ""); audit.String() != "verified 2 (unanchored 1)" {
			t.Errorf("%q", audit)
		}
	})
	a := newAnchored(t)
	a.store.failWith(errors.New("no room"))
	if _, err := eventlog.Open(withClock(a.Config)); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("a new log without an anchor opened: %v", err)
	}
}

func withClock(c eventlog.Config) eventlog.Config {
	c.Now = clock()
	return c
}

// B-CHAIN-1: a log that does not lead on from its anchor goes on, says so, and gets
// no new anchor: opening a session hides nothing that was done to its record.
func TestOpeningLaundersNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil  func(a anchored)
		notice string
		want   string
	}{
		"cut":         {func(a anchored) { a.replace(t, a.lines(t)[:2]...) }, "the anchored event is not in it", "tampered at 3"},
		"one deleted": {func(a anchored) { l := a.lines(t); a.replace(t, l[0], l[2], l[3]) }, "an event does not follow the one before it", "tampered at 1"},
		"cut and not gone on": {func(a anchored) { a.replace(t) }, "the anchored event is not in it",
			"truncated: anchored 4, found 2"},
		"forged": {func(a anchored) { must(t, a.store.PutAnchor("s1", `{}`)) }, "(anchor forged)", "anchor forged"},
		"missing": {func(a anchored) {
			must(t, a.store.db.CreateSession(t.Context(), store.Session{ID: "s1"}))
			must(t, a.store.db.DeleteSession(t.Context(), "s1"))
		}, "(anchor missing)", "anchor missing"},
	} {
		a := newAnchored(t)
		a.write(t, 4)
		c.spoil(a)
		l := open(t, a.Config)
		if !strings.Contains(l.Notice(), c.notice) || !strings.Contains(l.Notice(), "car log verify s1") {
			t.Errorf("%s: notice %q", name, l.Notice())
		}
		for range 2 {
			appendTo(t, l, eventlog.Event{Kind: eventlog.RunCompleted})
		}
		if err := l.Close(); err != nil {
			t.Errorf("%s: close: %v", name, err)
		}
		if audit := a.audit(t, ""); audit.String() != c.want {
			t.Errorf("%s: %q (%s), want %q", name, audit, audit.Reason, c.want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// B-CHAIN-1: compaction moves the base, and no moment of it looks like a cut head.
func TestCompactionMovesTheBase(t *testing.T) {
	t.Parallel()
	a := newAnchored(t)
	a.MaxEvents = 100
	l := open(t, a.Config)
	for range 1123 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	}
	before := a.lines(t)
	appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	if got := a.lines(t); len(got) != 100 {
		t.Fatalf("%d lines after the rewrite", len(got))
	}
	if audit := a.audit(t, ""); audit.String() != "verified 100" {
		t.Errorf("after the rewrite: %q (%s)", audit, audit.Reason)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	after := a.lines(t)
	// The process may have died between the anchor and the rename.
	a.replace(t, append(before, after[99])...)
	if audit := a.audit(t, ""); audit.String() != "verified 1124" {
		t.Errorf("anchored and not yet rewritten: %q (%s)", audit, audit.Reason)
	}
	a.replace(t, after[1:]...)
	if audit := a.audit(t, ""); audit.String() != "head cut without a base" {
		t.Errorf("one more cut off: %q", audit)
	}
	a.replace(t, after...)
	a.write(t, 1)
	if audit := a.audit(t, ""); audit.String() != "verified 101" {
		t.Errorf("gone on: %q (%s)", audit, audit.Reason)
	}
	a.store.failWith(errors.New("no room"))
	l, err := eventlog.Open(withClock(a.Config))
	must(t, err)
	for range 1100 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	}
	if n := len(a.lines(t)); n != 1201 {
		t.Errorf("%d lines: a head was cut that no anchor speaks of", n)
	}
	if err := l.Close(); err == nil {
		t.Error("nobody was told")
	}
}

// B-CHAIN-1: what anchoring needs is checked when the log is opened.
func TestAnchoringConfig(t *testing.T) {
	t.Parallel()
	a := newAnchored(t)
	for name, spoil := range map[string]func(c *eventlog.Config){
		"no path":    func(c *eventlog.Config) { c.Path = "" },
		"no chain":   func(c *eventlog.Config) { c.Chain = false },
		"no key":     func(c *eventlog.Config) { c.Anchoring = &eventlog.Anchoring{Session: "s1", Store: a.store} },
		"no session": func(c *eventlog.Config) { c.Anchoring = &eventlog.Anchoring{Store: a.store, Key: []byte("k")} },
		"no store":   func(c *eventlog.Config) { c.Anchoring = &eventlog.Anchoring{Session: "s1", Key: []byte("k")} },
	} {
		c := withClock(a.Config)
		spoil(&c)
		if _, err := eventlog.Open(c); err == nil || !strings.Contains(err.Error(), "Config.Anchoring") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
