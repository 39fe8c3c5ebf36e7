package assistant

import (
	"errors"
	"strings"
	"testing"

	"car/internal/assistant/llm"
)

// B073, A-SVC-4, P-WORK-7, U-TUI-6: what waits behind a run is listed, changed in its
// place and taken back; each input is delivered once, as it was last, and what was
// taken back waits for the person, also after a crash.
func TestQueueIsEditable(t *testing.T) {
	t.Parallel()
	h := newHouse(t, said{text: "working on it", hold: true}, says("did the first"), says("did the last"))
	c, f := h.start()
	send := func(in Input) {
		t.Helper()
		if err := c.Send(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	send(Input{Text: "begin"})
	f.of(KindToken)
	for _, text := range []string{"one", "two", "three"} {
		send(Input{Text: text})
	}
	send(Input{Text: "look left", Steer: true})
	queued := c.Queued()
	if len(queued) != 4 || queued[0].Text != "look left" || queued[3].Text != "three" {
		t.Fatalf("queued %+v", queued)
	}
	edited, err := c.EditQueued(t.Context(), queued[1].ID, "one and a half")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.EditQueued(t.Context(), edited, " "); err == nil {
		t.Error("an empty text was taken")
	}
	back, err := c.TakeBack(t.Context(), queued[2].ID)
	if err != nil || back.Text != "two" {
		t.Fatalf("took back %+v, %v", back, err)
	}
	if _, err := c.TakeBack(t.Context(), queued[2].ID); !errors.Is(err, ErrDelivered) {
		t.Errorf("taking it back again says %v", err)
	}
	if now := c.Queued(); len(now) != 3 || now[1].Text != "one and a half" || now[2].Text != "three" {
		t.Errorf("queued %+v", now)
	}
	returned, err := c.Returned(t.Context())
	if err != nil || len(returned) != 1 || returned[0].Text != "two" {
		t.Errorf("returned %+v, %v", returned, err)
	}
	// The row of an edited input stands for the old one: a crash now offers each once.
	rows, err := h.db.WaitingInputs(t.Context(), "s1")
	if err != nil || len(rows) != 4 {
		t.Errorf("%d rows wait, %v", len(rows), err)
	}
	c.Cancel()
	f.end()
	if len(c.Queued()) != 0 {
		t.Errorf("a cancel leaves %+v", c.Queued())
	}
	send(Input{Text: "the last", Replaces: []int64{back.ID}})
	f.end()
	all := h.model.requests()
	if text := textOf(all[len(all)-1]); strings.Contains(text, "two") || strings.Contains(text, "three") || !strings.Contains(text, "the last") {
		t.Errorf("the model was told\n%s", text)
	}
}

// P-WORK-7: an input that is taken back when nothing else waits lets the
// conversation rest.
func TestTakingTheLastBackLetsTheConversationRest(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	first := says("first")
	first.before = func(llm.Request) { <-release }
	h := newHouse(t, first)
	c, f := h.start()
	for _, text := range []string{"one", "two"} {
		if err := c.Send(t.Context(), Input{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	f.of(KindInferenceStarted)
	if _, err := c.TakeBack(t.Context(), c.Queued()[0].ID); err != nil {
		t.Fatal(err)
	}
	close(release)
	f.end()
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := len(h.model.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
