package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"sync"
	"time"
)

// How often a holder shows that it lives, and after which silence another
// process may take over (A-SVC-11).
const (
	LeaseBeat  = 5 * time.Second
	LeaseStale = 20 * time.Second
)

// Holder is a process as others know it. The boot id makes a process id mean
// something: the same number after a restart, or in another container, is another process.
type Holder struct {
	PID  int
	Boot string
}

// AcquireLease makes this DB the only writer of a session. A live holder is a
// *BusyError; one whose process is gone, or that was silent for LeaseStale, is
// taken over. The session need not exist yet. Acquiring again is a beat.
func (db *DB) AcquireLease(ctx context.Context, session string) error {
	err := db.update(ctx, func(tx *sql.Tx) error {
		held, l, err := leaseOf(ctx, tx, session)
		if err != nil {
			return err
		}
		now := db.now()
		if held && l.token != db.token && !db.isStale(l, now) {
			return l.busy(session, now)
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO leases (session, token, pid, boot, beat) VALUES (?,?,?,?,?)
			ON CONFLICT (session) DO UPDATE SET token = excluded.token, pid = excluded.pid, boot = excluded.boot, beat = excluded.beat`,
			session, db.token, db.holder.PID, db.holder.Boot, stamp(now))
		return err
	})
	if err == nil {
		db.held.set(session, true)
	}
	return err
}

// BeatLease shows that the holder lives; call it every LeaseBeat. A *LeaseLostError
// says that another process took over: stop, nothing more can be written.
func (db *DB) BeatLease(ctx context.Context, session string) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		r, err := tx.ExecContext(ctx, `UPDATE leases SET beat = ? WHERE session = ? AND token = ?`,
			stamp(db.now()), session, db.token)
		if err != nil {
			return err
		}
		if n, err := r.RowsAffected(); err != nil || n == 1 {
			return err
		}
		return &LeaseLostError{Session: session}
	})
}

// ReleaseLease gives a session up. Releasing what is not held does nothing.
func (db *DB) ReleaseLease(ctx context.Context, session string) error {
	ctx = context.WithoutCancel(ctx)
	db.held.set(session, false)
	return db.update(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM leases WHERE session = ? AND token = ?`, session, db.token)
		return err
	})
}

// LeaseHolder says who holds a session now, for a list; a stale holder is nobody.
func (db *DB) LeaseHolder(ctx context.Context, session string) (h Holder, held bool, err error) {
	err = db.view(ctx, func(tx *sql.Tx) error {
		found, l, err := leaseOf(ctx, tx, session)
		if err == nil && found && !db.isStale(l, db.now()) {
			h, held = l.holder, true
		}
		return err
	})
	return h, held, err
}

type lease struct {
	token  string
	holder Holder
	beat   time.Time
}

func leaseOf(ctx context.Context, tx *sql.Tx, session string) (found bool, l lease, err error) {
	var beat int64
	err = tx.QueryRowContext(ctx, `SELECT token, pid, boot, beat FROM leases WHERE session = ?`, session).
		Scan(&l.token, &l.holder.PID, &l.holder.Boot, &beat)
	if errors.Is(err, sql.ErrNoRows) {
		return false, l, nil
	}
	l.beat = unstamp(beat)
	return err == nil, l, err
}

// isStale also calls a beat far in the future stale: a clock that was set wrong
// once must not hold a session for years. The writes of a holder that was judged
// wrongly are refused by fence, so nothing mixes.
func (db *DB) isStale(l lease, now time.Time) bool {
	if l.holder.Boot != "" && l.holder.Boot == db.holder.Boot && !db.alive(l.holder.PID) {
		return true
	}
	return now.Sub(l.beat).Abs() > LeaseStale
}

func (l lease) busy(session string, now time.Time) error {
	return &BusyError{Session: session, Holder: l.holder, Beat: l.beat, Ago: max(0, now.Sub(l.beat))}
}

// fence refuses a write to a session that another DB holds or took over. It runs
// inside the writing transaction, so a takeover in between is seen (P-SCALE-2). A
// session that nobody ever held is free: a proposal from a file has no conversation.
func (db *DB) fence(ctx context.Context, tx *sql.Tx, session string) error {
	held, l, err := leaseOf(ctx, tx, session)
	switch {
	case err != nil:
		return err
	case held && l.token == db.token:
		return nil
	case db.held.has(session):
		return &LeaseLostError{Session: session}
	case held:
		return l.busy(session, db.now())
	default:
		return nil
	}
}

// sessions is a set of session ids. It remembers what this DB believes to hold:
// whoever lost a lease must not write again when the next holder has left.
type sessions struct {
	mu  sync.Mutex
	ids map[string]bool
}

func (s *sessions) set(id string, held bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil {
		s.ids = map[string]bool{}
	}
	s.ids[id] = held
}

func (s *sessions) has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ids[id]
}

func newToken() (string, error) {
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return "", err
	}
	return hex.EncodeToString(b), nil
}
