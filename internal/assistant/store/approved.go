package store

import (
	"context"

	"car/internal/engine/approval"
)

// PersonApproved lists the newest effects that somebody was asked about and allowed,
// in every session, at most n, newest first (G-POL-6).
func (db *DB) PersonApproved(ctx context.Context, n int) ([]approval.Effect, error) {
	return list(ctx, db, scanEffect, `SELECT `+effectColumns+` FROM actions
		WHERE allowed_by NOT LIKE 'auto:%' AND allowed_by NOT LIKE 'rule:%' AND allowed_by <> '' AND state <> 'denied' ORDER BY n DESC LIMIT ?`, n)
}
