package eventlog_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"car/internal/engine/eventlog"
)

// E-LOG-2: max_events holds after each append, oldest dropped first, and a
// follower that is behind goes on with what is there.
func TestMaxEvents(t *testing.T) {
	t.Parallel()
	l := open(t, eventlog.Config{MaxEvents: 3, Chain: true, Genesis: "g"})
	for i := range 10 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
		if n := l.Count(eventlog.Query{}); n != min(i+1, 3) {
			t.Fatalf("%d events after %d", n, i+1)
		}
	}
	if got := seqs(l.Query(eventlog.Query{})); len(got) != 3 || got[0] != 10 || got[2] != 8 {
		t.Errorf("kept %v", got)
	}
	for e := range l.Follow(t.Context(), 1) {
		if e.Seq != 8 {
			t.Errorf("a follower goes on at %d", e.Seq)
		}
		break
	}
	if v, err := l.Verify(); err != nil || v.Verified != 3 || v.HeadSeq != 10 {
		t.Errorf("%+v, %v", v, err)
	}
}

// E-LOG-2: max_age_secs.
func TestMaxAge(t *testing.T) {
	t.Parallel()
	path := journalPath(t)
	l := open(t, eventlog.Config{Path: path, MaxAge: 2 * time.Second})
	for range 6 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.RunStarted})
	}
	if got := seqs(l.Query(eventlog.Query{})); len(got) != 3 || got[2] != 4 {
		t.Errorf("kept %v, want those of the last two seconds", got)
	}
	l.Close()
	late := func() time.Time { return testTime.Add(time.Hour) }
	if n := open(t, eventlog.Config{Path: path, Now: late, MaxAge: time.Minute}).Count(eventlog.Query{}); n != 0 {
		t.Errorf("%d old events after opening", n)
	}
}

// E-LOG-2: the file is rewritten when it holds 1,024 lines too many and would
// shrink by a quarter, atomically; it stays private, verifies and goes on.
func TestRewrite(t *testing.T) {
	t.Parallel()
	c := eventlog.Config{Path: journalPath(t), MaxEvents: 100, Chain: true, Genesis: eventlog.GenesisOf("s1")}
	l := open(t, c)
	lines := func() int { return strings.Count(read(t, c.Path), "\n") }
	for range 1123 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	}
	if n := lines(); n != 1123 {
		t.Fatalf("%d lines, one short of a rewrite", n)
	}
	newest := appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	if n := lines(); n != 100 {
		t.Fatalf("%d lines after the rewrite", n)
	}
	if v, err := l.Verify(); err != nil || v.Verified != 100 || v.Head != newest.Hash || v.HeadSeq != 1124 {
		t.Errorf("%+v, %v", v, err)
	}
	if mode := fileMode(t, c.Path); mode != 0o600 {
		t.Errorf("mode %o", mode)
	}
	if _, err := os.Stat(c.Path + ".tmp"); !os.IsNotExist(err) {
		t.Errorf("a temporary file is left: %v", err)
	}
	appendTo(t, l, eventlog.Event{Kind: eventlog.RunCompleted})
	l.Close()
	l = open(t, c)
	if got := seqs(l.Query(eventlog.Query{Limit: 1})); got[0] != 1125 {
		t.Errorf("the newest after opening is %v", got)
	}
	if v, err := l.Verify(); err != nil || v.Verified != 101 {
		t.Errorf("after opening: %+v, %v", v, err)
	}
}

// E-LOG-2: a large log is not rewritten for less than a quarter.
func TestNoRewriteForLittle(t *testing.T) {
	t.Parallel()
	c := eventlog.Config{Path: journalPath(t), MaxEvents: 4000}
	l := open(t, c)
	for range 5300 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	}
	if n := strings.Count(read(t, c.Path), "\n"); n != 5300 {
		t.Errorf("%d lines", n)
	}
	for range 34 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	}
	if n := strings.Count(read(t, c.Path), "\n"); n != 4000 {
		t.Errorf("%d lines once it is worth it", n)
	}
}

// E-LOG-2: a file that can not be rewritten loses nothing; Sync and Close say so.
func TestRewriteThatFails(t *testing.T) {
	t.Parallel()
	c := eventlog.Config{Path: journalPath(t), MaxEvents: 10}
	l := open(t, c)
	if err := os.Mkdir(c.Path+".tmp", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.Path+".tmp/x", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 1100 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	}
	if err := l.Sync(); err == nil || !strings.Contains(err.Error(), "shrink "+c.Path) {
		t.Errorf("sync says %v", err)
	}
	if n := strings.Count(read(t, c.Path), "\n"); n != 1100 {
		t.Errorf("%d lines", n)
	}
	if err := os.RemoveAll(c.Path + ".tmp"); err != nil {
		t.Fatal(err)
	}
	for range 1024 {
		appendTo(t, l, eventlog.Event{Kind: eventlog.ActionExecuting})
	}
	if err := l.Sync(); err != nil {
		t.Errorf("sync after it worked again: %v", err)
	}
	if n := strings.Count(read(t, c.Path), "\n"); n > 1100 {
		t.Errorf("%d lines", n)
	}
}
