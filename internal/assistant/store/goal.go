package store

import (
	"context"
	"database/sql"
	"time"
)

// Goal is a session's one goal with its last verdict (A-GOAL-1).
type Goal struct {
	Session       string
	Objective     string
	Check         string
	MaxIterations int
	Status        string
	LastIteration int
	LastMet       bool
	LastGrounded  bool
	LastReason    string
	// TerminalKind and TerminalMessage are how its last run ended; empty while none has.
	TerminalKind    string
	TerminalMessage string
	Updated         time.Time
}

// The statuses the store itself knows: a goal found running when its session
// opens is active again, its verdict kept.
const (
	goalRunning = "running"
	goalActive  = "active"
)

// PutGoal writes a session's goal, in place of an older one.
func (db *DB) PutGoal(ctx context.Context, g Goal) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, g.Session); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO goals (session, objective, check_cmd, max_iterations, status,
			last_iteration, last_met, last_grounded, last_reason, terminal_kind, terminal_message, updated) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`,
			g.Session, g.Objective, g.Check, g.MaxIterations, g.Status, g.LastIteration, g.LastMet, g.LastGrounded, g.LastReason,
			g.TerminalKind, g.TerminalMessage, stamp(db.now()))
		return err
	})
}

// Goal finds a session's goal.
func (db *DB) Goal(ctx context.Context, session string) (Goal, bool, error) {
	return one(ctx, db, scanGoal, `SELECT session, objective, check_cmd, max_iterations, status,
		last_iteration, last_met, last_grounded, last_reason, terminal_kind, terminal_message, updated FROM goals WHERE session = ?`, session)
}

// ClearGoal forgets a session's goal; without one it does nothing.
func (db *DB) ClearGoal(ctx context.Context, session string) error {
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM goals WHERE session = ?`, session)
		return err
	})
}

func scanGoal(s scanner) (g Goal, err error) {
	var updated int64
	err = s.Scan(&g.Session, &g.Objective, &g.Check, &g.MaxIterations, &g.Status, &g.LastIteration, &g.LastMet, &g.LastGrounded,
		&g.LastReason, &g.TerminalKind, &g.TerminalMessage, &updated)
	g.Updated = unstamp(updated)
	return g, err
}
