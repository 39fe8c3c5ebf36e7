package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"car/internal/assistant/store"
)

func addInput(t *testing.T, db *store.DB, mode store.InputMode, text string, replaces ...int64) int64 {
	t.Helper()
	id, err := db.AddInput(t.Context(), "s1", mode, json.RawMessage(fmt.Sprintf("%q", text)), replaces...)
	must(t, err)
	return id
}

func waiting(t *testing.T, db *store.DB) (out []string) {
	t.Helper()
	all, err := db.WaitingInputs(t.Context(), "s1")
	must(t, err)
	for _, in := range all {
		var text string
		must(t, json.Unmarshal(in.Body, &text))
		if in.Returned {
			text += " (returned)"
		}
		out = append(out, text)
	}
	return out
}

func mustWait(t *testing.T, db *store.DB, want ...string) {
	t.Helper()
	if got := waiting(t, db); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("waiting: %q, want %q", got, want)
	}
}

// B073, P-WORK-7: text typed while a turn runs is delivered once, together with the
// message that carries it, or is back in the editor; also across a crash.
func TestB073AnInputIsDeliveredOnceOrIsBack(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	newSession(t, db, "s1")
	steer := addInput(t, db, store.Steer, "steer")
	queued := addInput(t, db, store.Queue, "queued")
	mustWait(t, db, "steer", "queued")

	in, found, err := db.NextInput(t.Context(), "s1", store.Steer)
	must(t, err)
	if !found || in.ID != steer || in.Mode != store.Steer {
		t.Fatalf("next to steer: %+v, %v", in, found)
	}
	// The process ends between looking and delivering: it is still there, once.
	mustWait(t, openAt(t, path, c), "steer", "queued")
	carries := say("user", "steer")
	carries.Input = steer
	appendAll(t, db, "s1", 1, carries)
	mustWait(t, db, "queued")
	if _, err := db.AppendMessages(t.Context(), "s1", 1, carries); err == nil {
		t.Error("an input was delivered twice")
	}
	if messages, err := db.Messages(t.Context(), "s1"); err != nil || len(messages) != 1 {
		t.Errorf("%d messages, %v: the refused delivery left one", len(messages), err)
	}
	if _, found, err := db.NextInput(t.Context(), "s1", store.Steer); err != nil || found {
		t.Errorf("a queued input was found to steer: %v, %v", found, err)
	}

	// Ctrl-C: it is back in the editor, runs no more by itself, and survives a crash there.
	back, err := db.ReturnInputs(t.Context(), "s1")
	must(t, err)
	if len(back) != 1 || back[0].ID != queued || !back[0].Returned {
		t.Errorf("returned: %+v", back)
	}
	if _, found, err := db.NextInput(t.Context(), "s1", store.Queue); err != nil || found {
		t.Errorf("a returned input was about to run: %v, %v", found, err)
	}
	again := openAt(t, path, c)
	mustWait(t, again, "queued (returned)")
	// The person sends it again, changed: the old one is gone in the same transaction.
	addInput(t, again, store.Queue, "queued, changed", queued)
	mustWait(t, again, "queued, changed")
	if _, err := again.AddInput(t.Context(), "s1", store.Queue, json.RawMessage(`"twice"`), queued); err == nil {
		t.Error("an input was sent again twice")
	}
	mustWait(t, again, "queued, changed")
	in, found, err = again.NextInput(t.Context(), "s1", store.Queue)
	must(t, err)
	if !found {
		t.Fatal("nothing is next")
	}
	must(t, again.WithdrawInput(t.Context(), "s1", in.ID))
	mustWait(t, again)
	var missing *store.NotFoundError
	if err := again.WithdrawInput(t.Context(), "s1", in.ID); !errors.As(err, &missing) {
		t.Errorf("withdrawn twice: %v", err)
	}
}

// A-SVC-4: what came too late to steer is queued, in the order it was typed; at
// most 16 of a mode wait.
func TestInputsWaitInOrderAndAreBounded(t *testing.T) {
	t.Parallel()
	db := openAt(t, newPath(t), newClock())
	newSession(t, db, "s1")
	late := addInput(t, db, store.Steer, "late")
	for i := range store.MaxWaiting {
		addInput(t, db, store.Queue, fmt.Sprint(i))
	}
	var full *store.QueueFullError
	if _, err := db.AddInput(t.Context(), "s1", store.Queue, json.RawMessage(`{}`)); !errors.As(err, &full) {
		t.Errorf("input %d: %v, want a QueueFullError", store.MaxWaiting+1, err)
	}
	addInput(t, db, store.Steer, "another mode")
	in, found, err := db.NextInput(t.Context(), "s1", store.Queue)
	must(t, err)
	if !found || in.ID != late {
		t.Errorf("next: %+v, want the steering input that came first", in)
	}
	if _, err := db.AddInput(t.Context(), "s1", store.InputUnset, json.RawMessage(`{}`)); err == nil {
		t.Error("an input without a mode was taken")
	}
	if _, err := db.AddInput(t.Context(), "s1", store.Queue, json.RawMessage(`{`)); err == nil {
		t.Error("a broken input was taken")
	}
}
