package store

import (
	"context"
	"database/sql"
)

// Recovered is what the end of an earlier process left open in a session.
type Recovered struct {
	// Turns were in progress and are incomplete now; nothing of them is re-run.
	Turns []Turn
	// Inputs wait for the person: offered once each, never run by themselves (P-WORK-7).
	Inputs []Input
	// Calls have no result; each is reconciled with its effects before the next
	// request (A-DUR-4).
	Calls []Call
	// Goal says that a goal was running and is active again.
	Goal bool
}

// Recover closes what an earlier process left open, in one transaction, and says
// what it was. Call it once after AcquireLease and before the first turn; effects
// in flight are the approval ledger's to recover. Doing it twice changes nothing.
func (db *DB) Recover(ctx context.Context, session string) (r Recovered, err error) {
	err = db.update(ctx, func(tx *sql.Tx) (err error) {
		r = Recovered{}
		if err := db.fence(ctx, tx, session); err != nil {
			return err
		}
		r.Turns, err = rows(ctx, tx, scanTurn, `UPDATE turns SET status = ?, ended = ? WHERE session = ? AND status = ? RETURNING `+turnColumns,
			TurnIncomplete.String(), stamp(db.now()), session, TurnInProgress.String())
		if err != nil {
			return err
		}
		if r.Inputs, err = returnInputs(ctx, tx, session); err != nil {
			return err
		}
		r.Calls, err = rows(ctx, tx, scanCall, `SELECT `+callColumns+` FROM calls WHERE session = ? AND result_seq IS NULL ORDER BY seq, rowid`, session)
		if err != nil {
			return err
		}
		goals, err := tx.ExecContext(ctx, `UPDATE goals SET status = ? WHERE session = ? AND status = ?`, goalActive, session, goalRunning)
		if err != nil {
			return err
		}
		n, err := goals.RowsAffected()
		if r.Goal = n > 0; err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE approvals SET decided = ?, decision = 'interrupted', by = 'restart', reason = 'the process ended before an answer'
			WHERE session = ? AND decided = 0`, stamp(db.now()), session)
		return err
	})
	return r, err
}
