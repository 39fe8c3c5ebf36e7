package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
)

func ids(sessions []store.Session) (out []string) {
	for _, s := range sessions {
		out = append(out, s.ID)
	}
	return out
}

// A-SVC-2, A-SVC-3, A-CLI-5: a session comes back as it was frozen, under the
// host's id; lists are by root, the last used first; a prefix finds it.
func TestSessionsAreFoundAgain(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	want := store.Session{ID: "ab-1", Title: "first", Cwd: "/project/a", Root: "/project", Model: "p/m", System: "be good", ToolsHash: "h1"}
	must(t, db.CreateSession(t.Context(), want))
	want.Created, want.Updated = c.now(), c.now()
	c.advance(time.Second)
	must(t, db.CreateSession(t.Context(), store.Session{ID: "ab-2", Root: "/project"}))
	c.advance(time.Second)
	must(t, db.CreateSession(t.Context(), store.Session{ID: "a%c", Root: "/elsewhere"}))
	c.advance(time.Second)

	again := openAt(t, path, c)
	got, err := again.Session(t.Context(), "ab-1")
	must(t, err)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("session (-want +got):\n%s", diff)
	}
	appendAll(t, db, "ab-1", 1, say("user", "hello"))
	for _, c := range []struct {
		list func() ([]store.Session, error)
		want []string
	}{
		{func() ([]store.Session, error) { return again.Sessions(t.Context(), "/project") }, []string{"ab-1", "ab-2"}},
		{func() ([]store.Session, error) { return again.Sessions(t.Context(), "") }, []string{"ab-1", "a%c", "ab-2"}},
		{func() ([]store.Session, error) { return again.Sessions(t.Context(), "/nowhere") }, nil},
		{func() ([]store.Session, error) { return again.FindSessions(t.Context(), "ab") }, []string{"ab-1", "ab-2"}},
		{func() ([]store.Session, error) { return again.FindSessions(t.Context(), "ab-2") }, []string{"ab-2"}},
		{func() ([]store.Session, error) { return again.FindSessions(t.Context(), "a%") }, []string{"a%c"}},
		{func() ([]store.Session, error) { return again.FindSessions(t.Context(), "%") }, nil},
	} {
		sessions, err := c.list()
		must(t, err)
		if diff := cmp.Diff(c.want, ids(sessions)); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
	}
	must(t, again.Rename(t.Context(), "ab-2", "second"))
	must(t, again.SetModel(t.Context(), "ab-2", "q/n"))
	if s, err := db.Session(t.Context(), "ab-2"); err != nil || s.Title != "second" || s.Model != "q/n" {
		t.Errorf("renamed: %+v, %v", s, err)
	}
}

// A-CLI-7: what is not there is said, and no id is used twice.
func TestSessionsThatAreNotThere(t *testing.T) {
	t.Parallel()
	db := openAt(t, newPath(t), newClock())
	newSession(t, db, "s1")
	if err := db.CreateSession(t.Context(), store.Session{ID: "s1"}); err == nil || !strings.Contains(err.Error(), `"s1"`) {
		t.Errorf("a taken id: %v, want an error that names it", err)
	}
	must(t, db.DeleteSession(t.Context(), "s1"))
	if err := db.CreateSession(t.Context(), store.Session{ID: "s1"}); err == nil {
		t.Error("a deleted session's id was used again")
	}
	var missing *store.NotFoundError
	_, findErr := db.Session(t.Context(), "s1")
	for name, err := range map[string]error{
		"find": findErr, "rename": db.Rename(t.Context(), "s1", "x"), "delete": db.DeleteSession(t.Context(), "s1"),
		"model": db.SetModel(t.Context(), "s9", "m"), "fork": db.Fork(t.Context(), "s9", 1, store.Session{ID: "s10"}),
	} {
		if !errors.As(err, &missing) {
			t.Errorf("%s: %v, want a NotFoundError", name, err)
		}
	}
	if _, err := db.Session(t.Context(), "s10"); !errors.As(err, &missing) {
		t.Errorf("a fork of nothing left a session: %v", err)
	}
}

// A-DUR-7, D-23: a deleted session leaves nothing it said, its images go with the
// last session that shows them, and the audit line stays.
func TestDeleteLeavesTheAuditLine(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db := openAt(t, path, c)
	const secret = "sk-test-AAAA1111BBBB2222"
	long := secret + strings.Repeat(" and so on", 2000) // spans several pages
	newSession(t, db, "s1")
	newSession(t, db, "s2")
	ask := say("assistant", secret)
	ask.Calls = []store.Call{{ID: "t1c1", Tool: "shell", Args: `{"command":"echo ` + secret + `"}`}}
	n, err := db.StartTurn(t.Context(), "s1", "chat")
	must(t, err)
	appendAll(t, db, "s1", n, say("user", long), ask)
	l, e := newLedger(t, db, c), anEffect(t, "s1", "t1c1", "echo "+secret)
	must(t, l.BeforeDispatch(t.Context(), e))
	must(t, l.AfterDispatch(t.Context(), e.ID, approval.Outcome{Completed: true, Receipt: `{"output":"` + secret + `"}`}))
	_, err = db.AddInput(t.Context(), "s1", store.Queue, json.RawMessage(`"`+secret+`"`))
	must(t, err)
	must(t, db.AddCompaction(t.Context(), "s1", 1, 2, json.RawMessage(`"`+secret+`"`)))
	must(t, db.PutGoal(t.Context(), store.Goal{Session: "s1", Check: secret}))
	must(t, db.AddUsage(t.Context(), "s1", store.Usage{Turn: n, Input: 1}))
	must(t, db.EndTurn(t.Context(), "s1", n, store.TurnCompleted, json.RawMessage(`"`+secret+`"`)))
	shared, err := db.PutBlob(t.Context(), "s1", "image/png", []byte("shared"))
	must(t, err)
	_, err = db.PutBlob(t.Context(), "s2", "image/png", []byte("shared"))
	must(t, err)
	own, err := db.PutBlob(t.Context(), "s1", "image/png", []byte("own"))
	must(t, err)

	must(t, db.DeleteSession(t.Context(), "s1"))

	row := mustState(t, db, e.ID, approval.Completed)
	if row.Scope.Tool != "shell" || row.AllowedBy != "auto:full_access" || len(row.Scope.Parameters) != 0 {
		t.Errorf("the audit line is %+v, want tool and who, without parameters", row)
	}
	if moves, err := db.Moves(t.Context(), e.ID); err != nil || len(moves) != 4 {
		t.Errorf("%d moves are left, %v, want all 4", len(moves), err)
	}
	if err := l.BeforeDispatch(t.Context(), e); err == nil {
		t.Error("an effect of a deleted session ran again")
	}
	if left := textInTables(t, path, secret); len(left) > 0 {
		t.Errorf("the deleted session's text is left in %v", left)
	}
	for _, file := range []string{path, path + "-wal"} {
		if bytes, err := os.ReadFile(file); err != nil || strings.Contains(string(bytes), secret) {
			t.Errorf("%s still holds the deleted session's text (%v)", filepath.Base(file), err)
		}
	}
	if _, err := db.Blob(t.Context(), shared); err != nil {
		t.Errorf("an image that another session shows is gone: %v", err)
	}
	var missing *store.NotFoundError
	if _, err := db.Blob(t.Context(), own); !errors.As(err, &missing) {
		t.Errorf("the deleted session's image is left: %v", err)
	}
	must(t, db.DeleteSession(t.Context(), "s2"))
	if _, err := db.Blob(t.Context(), shared); !errors.As(err, &missing) {
		t.Errorf("an image that no session shows is left: %v", err)
	}
}

// textInTables names every column of every table that holds text.
func textInTables(t *testing.T, path, text string) (found []string) {
	t.Helper()
	db := raw(t, path)
	r, err := db.QueryContext(t.Context(), `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table'`)
	must(t, err)
	var columns [][2]string
	for r.Next() {
		var c [2]string
		must(t, r.Scan(&c[0], &c[1]))
		columns = append(columns, c)
	}
	must(t, r.Err())
	for _, c := range columns {
		var n int
		must(t, db.QueryRowContext(t.Context(), `SELECT count(*) FROM "`+c[0]+`" WHERE instr("`+c[1]+`", ?) > 0`, text).Scan(&n))
		if n > 0 {
			found = append(found, c[0]+"."+c[1])
		}
	}
	return found
}

// A-DUR-7, A-SVC-11: a fork has the history up to its point, may be made of a
// session that another process holds, and inherits no decision.
func TestForkCopiesHistoryAndNoAuthority(t *testing.T) {
	t.Parallel()
	c, path := newClock(), newPath(t)
	db, other := openAt(t, path, c), openAt(t, path, c)
	must(t, db.AcquireLease(t.Context(), "s1"))
	newSession(t, db, "s1")
	ask := say("assistant", "look")
	ask.Calls = []store.Call{{ID: "t1c1", Tool: "read_file", Args: "{}"}, {ID: "t1c2", Tool: "read_file", Args: "{}"}}
	answer := say("user", "found")
	answer.Answers = []string{"t1c1"}
	later := say("user", "found more")
	later.Answers = []string{"t1c2"}
	n, err := db.StartTurn(t.Context(), "s1", "chat")
	must(t, err)
	appendAll(t, db, "s1", n, say("user", "hello"), ask, answer, later)
	must(t, db.AddCompaction(t.Context(), "s1", 1, 2, json.RawMessage(`"short"`)))
	must(t, db.AddCompaction(t.Context(), "s1", 3, 4, json.RawMessage(`"later"`)))
	must(t, db.AddGrant(t.Context(), "s1", "scope:x"))
	_, err = db.AddInput(t.Context(), "s1", store.Queue, json.RawMessage(`{}`))
	must(t, err)

	image, err := db.PutBlob(t.Context(), "s1", "image/png", []byte("seen"))
	must(t, err)

	must(t, other.Fork(t.Context(), "s1", 3, store.Session{ID: "s2", Root: "/project"}))
	must(t, other.AcquireLease(t.Context(), "s2"))
	s, err := other.Session(t.Context(), "s2")
	must(t, err)
	if s.Parent != "s1" || s.ParentSeq != 3 {
		t.Errorf("the fork's origin is %q at %d", s.Parent, s.ParentSeq)
	}
	source, err := other.Messages(t.Context(), "s1")
	must(t, err)
	copied, err := other.Messages(t.Context(), "s2")
	must(t, err)
	if diff := cmp.Diff(source[:3], copied); diff != "" {
		t.Errorf("the fork's history (-want +got):\n%s", diff)
	}
	r, err := other.Recover(t.Context(), "s2")
	must(t, err)
	if len(r.Calls) != 1 || r.Calls[0].ID != "t1c2" || len(r.Turns) != 0 || len(r.Inputs) != 0 {
		t.Errorf("open in the fork: %+v, want the call that was answered later", r)
	}
	grants, err := other.Grants(t.Context(), "s2")
	must(t, err)
	compactions, err := other.Compactions(t.Context(), "s2")
	must(t, err)
	if len(grants) != 0 || len(compactions) != 1 {
		t.Errorf("the fork has %d grants and %d compactions, want none and 1", len(grants), len(compactions))
	}
	if n, err := other.StartTurn(t.Context(), "s2", "chat"); err != nil || n != 2 {
		t.Errorf("the fork's next turn is %d, %v, want 2", n, err)
	}
	if first := appendAll(t, other, "s2", 2, say("user", "go on")); first != 4 {
		t.Errorf("the fork goes on at %d, want 4", first)
	}
	must(t, db.DeleteSession(t.Context(), "s1"))
	if b, err := other.Blob(t.Context(), image); err != nil || b.MediaType != "image/png" || string(b.Bytes) != "seen" {
		t.Errorf("the fork's image after its origin was deleted: %+v, %v", b, err)
	}
}
