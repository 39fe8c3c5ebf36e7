package store_test

import (
	"testing"

	"car/internal/assistant/store"
)

// B-CHAIN-1: a session has one anchor, the last one put; it outlives the process
// and goes with its session.
func TestAnchors(t *testing.T) {
	t.Parallel()
	path, c := newPath(t), newClock()
	db := openAt(t, path, c)
	must(t, db.CreateSession(t.Context(), store.Session{ID: "s1", Root: "/project"}))
	if text, found, err := db.Anchor(t.Context(), "s1"); err != nil || found {
		t.Errorf("before the first: %q %v %v", text, found, err)
	}
	must(t, db.PutAnchor(t.Context(), "s1", `{"seq":1}`))
	must(t, db.PutAnchor(t.Context(), "s1", `{"seq":2}`))
	must(t, db.PutAnchor(t.Context(), "a proposal of a file", `{"seq":9}`))
	again := openAt(t, path, c)
	if text, found, err := again.Anchor(t.Context(), "s1"); err != nil || !found || text != `{"seq":2}` {
		t.Errorf("after opening again: %q %v %v", text, found, err)
	}
	if err := db.PutAnchor(t.Context(), "s1", "not JSON"); err == nil {
		t.Error("took an anchor that is no JSON")
	}
	must(t, db.DeleteSession(t.Context(), "s1"))
	if _, found, err := again.Anchor(t.Context(), "s1"); err != nil || found {
		t.Errorf("after the session was deleted: %v %v", found, err)
	}
	if _, found, err := again.Anchor(t.Context(), "a proposal of a file"); err != nil || !found {
		t.Errorf("another's anchor is gone too: %v", err)
	}
}
