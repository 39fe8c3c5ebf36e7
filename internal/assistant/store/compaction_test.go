package store_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"car/internal/assistant/store"
)

func visible(t *testing.T, db *store.DB) string {
	t.Helper()
	messages, err := db.Messages(t.Context(), "s1")
	must(t, err)
	compactions, err := db.Compactions(t.Context(), "s1")
	must(t, err)
	var out []string
	for _, item := range store.Visible(messages, compactions) {
		if item.Message != nil {
			out = append(out, fmt.Sprint(item.Message.Seq))
		} else {
			out = append(out, fmt.Sprintf("%s=%d-%d", item.Summary, item.FromSeq, item.ToSeq))
		}
	}
	return strings.Join(out, " ")
}

// A-DUR-2, A-DUR-7, A-LOOP-13: compactions and rewinds change what prompts show and
// no message; a rewind into a summarised range shows the true messages.
func TestVisible(t *testing.T) {
	t.Parallel()
	db := openAt(t, newPath(t), newClock())
	newSession(t, db, "s1")
	see := func(want string) {
		t.Helper()
		if got := visible(t, db); got != want {
			t.Errorf("prompts show %q, want %q", got, want)
		}
	}
	for i := range 6 {
		appendAll(t, db, "s1", 1, say("user", fmt.Sprint(i)))
	}
	refused := say("assistant", "no")
	refused.Message.Excluded = true
	appendAll(t, db, "s1", 1, refused, say("user", "on"))
	see("1 2 3 4 5 6 8")
	must(t, db.AddCompaction(t.Context(), "s1", 2, 4, json.RawMessage(`"A"`)))
	see(`1 "A"=2-4 5 6 8`)
	must(t, db.AddCompaction(t.Context(), "s1", 2, 6, json.RawMessage(`"B"`)))
	see(`1 "B"=2-6 8`)
	must(t, db.Rewind(t.Context(), "s1", 3))
	see("1 2 3")
	appendAll(t, db, "s1", 2, say("user", "other way"))
	see("1 2 3 9")
	must(t, db.Rewind(t.Context(), "s1", 9))
	see("1 2 3 9")
	if err := db.AddCompaction(t.Context(), "s1", 5, 4, json.RawMessage(`"C"`)); err == nil {
		t.Error("a range that ends before it begins was taken")
	}
	if err := db.AddCompaction(t.Context(), "s1", 1, 2, json.RawMessage(`"C`)); err == nil {
		t.Error("a broken summary was taken")
	}
	if messages, err := db.Messages(t.Context(), "s1"); err != nil || len(messages) != 9 {
		t.Errorf("%d messages, %v, want all 9", len(messages), err)
	}
}
