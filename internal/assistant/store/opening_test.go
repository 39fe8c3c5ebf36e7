package store_test

import (
	"fmt"
	"strings"
	"testing"

	"car/internal/assistant/store"
)

// BenchmarkOpenSession is what a person waits for when a session of n messages is
// opened: the database, the lease, the session's row and what an earlier process
// left open in it. It has to be the same for every n.
func BenchmarkOpenSession(b *testing.B) {
	for _, history := range []int{0, 10_000} {
		b.Run(fmt.Sprint(history), func(b *testing.B) {
			path, c := newPath(b), newClock()
			db := openAt(b, path, c)
			newSession(b, db, "s1")
			for from := 0; from < history; from += 1000 {
				var many []store.Entry
				for i := from; i < from+1000; i += 2 {
					id := fmt.Sprintf("c%d", i)
					ask, answer := say("assistant", strings.Repeat("look ", 100)), say("user", strings.Repeat("found ", 100))
					ask.Calls, answer.Answers = []store.Call{{ID: id, Tool: "read_file", Args: "{}"}}, []string{id}
					many = append(many, ask, answer)
				}
				appendAll(b, db, "s1", 1, many...)
			}
			must(b, db.Close())
			for b.Loop() {
				db, err := store.Open(b.Context(), store.Config{Path: path, Now: c.now, Holder: store.Self()})
				must(b, err)
				must(b, db.AcquireLease(b.Context(), "s1"))
				_, err = db.Session(b.Context(), "s1")
				must(b, err)
				_, err = db.Recover(b.Context(), "s1")
				must(b, err)
				must(b, db.ReleaseLease(b.Context(), "s1"))
				must(b, db.Close())
			}
		})
	}
}
