package store

import (
	"context"
	"database/sql"
)

// Usage counts the tokens of one request. Input is what no cache served.
type Usage struct {
	Turn       int
	Step       int
	Provider   string
	Model      string
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
	Reasoning  int64
	// CostMicros is millionths of a US dollar; nil is unknown.
	CostMicros *int64
	Estimated  bool
}

// Totals sums requests. CostMicros is nil as soon as one price is unknown (P-TRUE-6).
type Totals struct {
	Requests   int64
	Input      int64
	Output     int64
	CacheRead  int64
	CacheWrite int64
	Reasoning  int64
	CostMicros *int64
	Estimated  bool
}

// AddUsage records one request, failed ones too. It is written even when ctx has
// ended: the tokens are spent.
func (db *DB) AddUsage(ctx context.Context, session string, u Usage) error {
	ctx = context.WithoutCancel(ctx)
	return db.update(ctx, func(tx *sql.Tx) error {
		if err := db.touch(ctx, tx, session); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO usage
			(session, turn, step, provider, model, input, output, cache_read, cache_write, reasoning, cost_micros, estimated)
			VALUES (?,?,?,?,?,?,?,?,?,?,?,?)`,
			session, u.Turn, u.Step, u.Provider, u.Model, u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning, u.CostMicros, u.Estimated)
		return err
	})
}

// UsageOf sums a session's requests; of one turn only where turn is above 0.
func (db *DB) UsageOf(ctx context.Context, session string, turn int) (Totals, error) {
	t, _, err := one(ctx, db, scanTotals, `SELECT count(*), coalesce(sum(input), 0), coalesce(sum(output), 0), coalesce(sum(cache_read), 0),
		coalesce(sum(cache_write), 0), coalesce(sum(reasoning), 0),
		CASE WHEN count(cost_micros) = count(*) THEN coalesce(sum(cost_micros), 0) END, coalesce(max(estimated), 0)
		FROM usage WHERE session = ?1 AND (?2 <= 0 OR turn = ?2)`, session, turn)
	return t, err
}

func scanTotals(s scanner) (t Totals, err error) {
	err = s.Scan(&t.Requests, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning, &t.CostMicros, &t.Estimated)
	return t, err
}

// ModelTotals sums the requests to one model. CostMicros is what the requests of
// known price cost together, and Unpriced counts the others, which it leaves out.
type ModelTotals struct {
	Provider string
	Model    string
	Totals
	Unpriced int64
}

// UsageByModel sums requests model by model, the most used first: of one session,
// or of all sessions of a root, or of all where both are empty (A-LLM-12).
func (db *DB) UsageByModel(ctx context.Context, session, root string) ([]ModelTotals, error) {
	return list(ctx, db, scanModelTotals, `SELECT u.provider, u.model, count(*), sum(u.input), sum(u.output), sum(u.cache_read), sum(u.cache_write),
		sum(u.reasoning), sum(u.cost_micros), max(u.estimated), count(*) - count(u.cost_micros)
		FROM usage u JOIN sessions s ON s.id = u.session WHERE (?1 = '' OR u.session = ?1) AND (?2 = '' OR s.root = ?2)
		GROUP BY u.provider, u.model ORDER BY count(*) DESC, u.provider, u.model`, session, root)
}

func scanModelTotals(s scanner) (t ModelTotals, err error) {
	err = s.Scan(&t.Provider, &t.Model, &t.Requests, &t.Input, &t.Output, &t.CacheRead, &t.CacheWrite, &t.Reasoning, &t.CostMicros, &t.Estimated, &t.Unpriced)
	return t, err
}
