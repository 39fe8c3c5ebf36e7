package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"car/internal/assistant/store"
	"car/internal/engine/approval"
	"car/internal/engine/ir"
)

// E-PIPE-6, G-APPR-2: a decision survives a restart with who, when and why, a
// later word replaces it, and a dropped one is asked again.
func TestDecisions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "car.db")
	open := func() *store.DB {
		db, err := store.Open(t.Context(), store.Config{Path: path, Now: time.Now, Holder: store.Self()})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	at := time.Unix(100, 5).UTC()
	d := approval.Decision{Fingerprint: "f", RequiredTier: ir.FullAccess, Approved: true, Reviewer: "ann", Reason: "checked", DecidedAt: at}
	for _, bad := range []approval.Decision{{Reviewer: "ann"}, {Fingerprint: "f"}} {
		if err := approval.Record(t.Context(), db, bad); err == nil {
			t.Errorf("recorded %+v", bad)
		}
	}
	if err := approval.Record(t.Context(), nil, d); err == nil {
		t.Error("recorded without a ledger")
	}
	if err := approval.Record(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
	db.Close()
	db = open()
	defer db.Close()
	got, found, err := db.Decision(t.Context(), "f")
	if err != nil || !found || !got.DecidedAt.Equal(at) {
		t.Errorf("%+v %v %v", got, found, err)
	}
	got.DecidedAt = at
	if got != d || got.Word() != "approved" {
		t.Errorf("%+v", got)
	}
	d.Approved, d.Reason = false, "changed my mind"
	if err := approval.Record(t.Context(), db, d); err != nil {
		t.Fatal(err)
	}
	if all, err := db.Decisions(t.Context()); err != nil || len(all) != 1 || all[0].Word() != "rejected" {
		t.Errorf("%+v %v", all, err)
	}
	for _, want := range []bool{true, false} {
		if dropped, err := db.DropDecision(t.Context(), "f"); err != nil || dropped != want {
			t.Errorf("dropped %v %v", dropped, err)
		}
	}
}
