package store_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant/store"
)

// say is a message of one text.
func say(role, text string) store.Entry {
	body, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		panic(err)
	}
	return store.Entry{Message: store.Message{Role: role, Body: body}}
}

func newSession(t testing.TB, db *store.DB, id string) {
	t.Helper()
	must(t, db.CreateSession(t.Context(), store.Session{ID: id, Root: "/project", Cwd: "/project/a", System: "be good"}))
}

func appendAll(t testing.TB, db *store.DB, session string, turn int, entries ...store.Entry) int64 {
	t.Helper()
	first, err := db.AppendMessages(t.Context(), session, turn, entries...)
	must(t, err)
	return first
}

// raw is a connection that knows nothing of the store's rules.
func raw(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	must(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// A-DUR-2, A-CTX-4, P-STREAM-5: what was sent comes back byte for byte, in order,
// with who served it.
func TestATranscriptComesBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	newSession(t, db, "s1")
	odd := json.RawMessage("{\"b\":1, \"a\":1.50e0,\"t\":\"<\\u003c\\ud83d\\ude00 \u2028\",\n \"k\":null}")
	first := appendAll(t, db, "s1", 1,
		store.Entry{Message: store.Message{Role: "user", Body: odd}},
		store.Entry{Message: store.Message{Role: "assistant", Body: odd, Provider: "p", Model: "m-2", LastResort: true, Excluded: true}})
	second := appendAll(t, db, "s1", 2, say("user", "again"))
	if first != 1 || second != 3 {
		t.Errorf("checkpoints begin at %d and %d, want 1 and 3", first, second)
	}
	got, err := openAt(t, path, c).Messages(t.Context(), "s1")
	must(t, err)
	want := []store.Message{
		{Seq: 1, Turn: 1, Role: "user", Body: odd, Created: c.now()},
		{Seq: 2, Turn: 1, Role: "assistant", Body: odd, Provider: "p", Model: "m-2", LastResort: true, Excluded: true, Created: c.now()},
		{Seq: 3, Turn: 2, Role: "user", Body: say("user", "again").Message.Body, Created: c.now()},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
	if !bytes.Equal(got[0].Body, odd) {
		t.Errorf("the body came back as %q", got[0].Body)
	}
	after, err := db.MessagesAfter(t.Context(), "s1", 2)
	must(t, err)
	if len(after) != 1 || after[0].Seq != 3 {
		t.Errorf("after 2: %+v, want message 3", after)
	}
}

// A-DUR-2: nobody changes or deletes a message, an outcome or a delivered input,
// whatever tool opens the file; a session that is deleted is the one way.
func TestHistoryIsAppendOnly(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	newSession(t, db, "s1")
	input, err := db.AddInput(t.Context(), "s1", store.Queue, json.RawMessage(`{}`))
	must(t, err)
	ask := say("assistant", "look")
	ask.Calls = []store.Call{{ID: "t1c1", Tool: "read_file", Args: "{}"}}
	hello := say("user", "hello")
	hello.Input = input
	answer := say("user", "found")
	answer.Answers = []string{"t1c1"}
	appendAll(t, db, "s1", 1, hello, ask, answer)
	l, e := newLedger(t, db, c), anEffect(t, "s1", "t1c1", "make")
	must(t, l.BeforeDispatch(t.Context(), e))
	must(t, l.Decide(t.Context(), proposeAnother(t, db, c), denied()))

	other := raw(t, path)
	for _, statement := range []string{
		`UPDATE messages SET body = '{}'`,
		`UPDATE messages SET excluded = 1`,
		`DELETE FROM messages`,
		`DELETE FROM messages WHERE seq = 3`,
		`UPDATE calls SET result_seq = NULL`,
		`DELETE FROM action_log`,
		`UPDATE action_log SET by = 'nobody'`,
		`UPDATE action_log SET receipt = '{}'`,
		`DELETE FROM actions`,
		`UPDATE actions SET state = 'approved' WHERE state = 'denied'`,
		`UPDATE inputs SET state = 'pending'`,
	} {
		if _, err := other.ExecContext(t.Context(), statement); err == nil {
			t.Errorf("%s was allowed", statement)
		}
	}
	if got, err := db.Messages(t.Context(), "s1"); err != nil || len(got) != 3 {
		t.Errorf("%d messages are left, %v", len(got), err)
	}
}

// P-WORK-2: a call has exactly one result; what has none is listed for a resume.
func TestEveryCallHasOneResult(t *testing.T) {
	t.Parallel()
	db := openAt(t, newPath(t), newClock())
	newSession(t, db, "s1")
	ask := say("assistant", "look")
	ask.Calls = []store.Call{
		{ID: "t1c1", ProviderID: "toolu_1", Tool: "read_file", Args: `{"path":"a"}`},
		{ID: "t1c2", ProviderID: "", Tool: "shell", Args: `{"command":`},
	}
	appendAll(t, db, "s1", 1, say("user", "hello"), ask)
	answer := say("user", "found")
	answer.Answers = []string{"t1c1"}
	appendAll(t, db, "s1", 1, answer)

	open, err := db.OpenCalls(t.Context(), "s1")
	must(t, err)
	want := []store.Call{{ID: "t1c2", Tool: "shell", Args: `{"command":`, Seq: 2}}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Errorf("open calls (-want +got):\n%s", diff)
	}
	var answered *store.AnsweredError
	second := say("user", "found twice")
	second.Answers = []string{"t1c2", "t1c1"}
	if _, err := db.AppendMessages(t.Context(), "s1", 1, second); !errors.As(err, &answered) || answered.CallID != "t1c1" {
		t.Errorf("a second result: %v, want an AnsweredError for t1c1", err)
	}
	var missing *store.NotFoundError
	third := say("user", "of nothing")
	third.Answers = []string{"t9c9"}
	if _, err := db.AppendMessages(t.Context(), "s1", 1, third); !errors.As(err, &missing) {
		t.Errorf("a result of no call: %v, want a NotFoundError", err)
	}
	repeated := say("assistant", "look again")
	repeated.Calls = []store.Call{{ID: "t1c1", Tool: "read_file", Args: "{}"}}
	if _, err := db.AppendMessages(t.Context(), "s1", 1, repeated); err == nil || !strings.Contains(err.Error(), "t1c1") {
		t.Errorf("a repeated call id: %v, want an error that names it", err)
	}
	all, err := db.Calls(t.Context(), "s1")
	must(t, err)
	if len(all) != 2 || all[0].ResultSeq != 3 || all[1].ResultSeq != 0 {
		t.Errorf("calls after three refused checkpoints: %+v", all)
	}
	if messages, err := db.Messages(t.Context(), "s1"); err != nil || len(messages) != 3 {
		t.Errorf("a refused checkpoint left rows: %d messages, %v", len(messages), err)
	}
}

// A-DUR-3: what is no JSON, and what has no session, is no message.
func TestABrokenCheckpointIsRefused(t *testing.T) {
	t.Parallel()
	db := openAt(t, newPath(t), newClock())
	newSession(t, db, "s1")
	if _, err := db.AppendMessages(t.Context(), "s1", 1, say("user", "ok"), store.Entry{Message: store.Message{Role: "user", Body: json.RawMessage(`{"a":`)}}); err == nil || !strings.Contains(err.Error(), "message 2") {
		t.Errorf("a broken body: %v, want an error that names message 2", err)
	}
	var missing *store.NotFoundError
	if _, err := db.AppendMessages(t.Context(), "nowhere", 1, say("user", "ok")); !errors.As(err, &missing) {
		t.Errorf("no session: %v, want a NotFoundError", err)
	}
	if messages, err := db.Messages(t.Context(), "s1"); err != nil || len(messages) != 0 {
		t.Errorf("%d messages, %v, want none", len(messages), err)
	}
}

// A-DUR-2: a checkpoint writes its new rows, however long the session is.
func TestACheckpointCostsItsNewRows(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	db := openAt(t, path, newClock())
	newSession(t, db, "s1")
	many := make([]store.Entry, 3000)
	for i := range many {
		many[i] = say("user", strings.Repeat("history ", 100))
	}
	appendAll(t, db, "s1", 1, many...)
	var busy, frames, moved int
	must(t, raw(t, path).QueryRowContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved))
	appendAll(t, db, "s1", 2, say("user", "one more"))
	info, err := os.Stat(path + "-wal")
	must(t, err)
	if busy != 0 || info.Size() == 0 || info.Size() > 64<<10 {
		t.Errorf("one message after 3,000 wrote %d bytes (busy %d), want a few pages", info.Size(), busy)
	}
}
