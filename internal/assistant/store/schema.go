package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// migrations are the steps from an empty file to today's schema. A step that was
// released is never edited; a change is a new step at the end (A-DUR-1).
func migrations() []string {
	return []string{schemaConversation + schemaActions + schemaRest}
}

// Times are nanoseconds since 1970, 0 for none. A deleted session's row stays,
// emptied, as the line that says so (A-DUR-7).
const schemaConversation = `
CREATE TABLE sessions (
	id TEXT PRIMARY KEY NOT NULL CHECK (id <> ''),
	title TEXT NOT NULL,
	cwd TEXT NOT NULL,
	root TEXT NOT NULL,
	model TEXT NOT NULL,
	system TEXT NOT NULL,
	tools_hash TEXT NOT NULL,
	parent TEXT NOT NULL,
	parent_seq INTEGER NOT NULL,
	created INTEGER NOT NULL,
	updated INTEGER NOT NULL,
	deleted INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX sessions_root ON sessions (root, updated);

CREATE TABLE turns (
	session TEXT NOT NULL REFERENCES sessions (id),
	turn INTEGER NOT NULL,
	kind TEXT NOT NULL,
	status TEXT NOT NULL CHECK (status IN ('in_progress', 'completed', 'incomplete', 'canceled', 'failed')),
	started INTEGER NOT NULL,
	ended INTEGER NOT NULL DEFAULT 0,
	terminal TEXT NOT NULL DEFAULT '' CHECK (terminal = '' OR json_valid(terminal)),
	PRIMARY KEY (session, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
	session TEXT NOT NULL REFERENCES sessions (id),
	seq INTEGER NOT NULL,
	turn INTEGER NOT NULL,
	role TEXT NOT NULL CHECK (role <> ''),
	body TEXT NOT NULL CHECK (json_valid(body)),
	provider TEXT NOT NULL,
	model TEXT NOT NULL,
	last_resort INTEGER NOT NULL,
	excluded INTEGER NOT NULL,
	created INTEGER NOT NULL,
	PRIMARY KEY (session, seq)
) STRICT;
CREATE TRIGGER messages_keep_update BEFORE UPDATE ON messages BEGIN
	SELECT RAISE(ABORT, 'messages are append-only');
END;
CREATE TRIGGER messages_keep_delete BEFORE DELETE ON messages
WHEN (SELECT deleted FROM sessions WHERE id = OLD.session) = 0 BEGIN
	SELECT RAISE(ABORT, 'messages are append-only');
END;

CREATE TABLE calls (
	session TEXT NOT NULL,
	call_id TEXT NOT NULL CHECK (call_id <> ''),
	seq INTEGER NOT NULL,
	provider_id TEXT NOT NULL,
	tool TEXT NOT NULL,
	args TEXT NOT NULL,
	result_seq INTEGER,
	PRIMARY KEY (session, call_id),
	FOREIGN KEY (session, seq) REFERENCES messages (session, seq),
	FOREIGN KEY (session, result_seq) REFERENCES messages (session, seq)
) STRICT;
CREATE INDEX calls_open ON calls (session, seq) WHERE result_seq IS NULL;
CREATE INDEX calls_seq ON calls (session, seq);
CREATE INDEX calls_result ON calls (session, result_seq);
CREATE TRIGGER calls_one_result BEFORE UPDATE ON calls WHEN OLD.result_seq IS NOT NULL BEGIN
	SELECT RAISE(ABORT, 'a call has exactly one result');
END;

CREATE TABLE compactions (
	session TEXT NOT NULL REFERENCES sessions (id),
	n INTEGER NOT NULL,
	from_seq INTEGER NOT NULL,
	to_seq INTEGER NOT NULL CHECK (to_seq >= from_seq),
	summary TEXT NOT NULL CHECK (summary = '' OR json_valid(summary)),
	created INTEGER NOT NULL,
	PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;
`

// Effects and decisions do not hang on a session row: a proposal from a file has
// none, and the record outlives its session.
const schemaActions = `
CREATE TABLE actions (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	id TEXT NOT NULL UNIQUE CHECK (id <> ''),
	session TEXT NOT NULL,
	call_id TEXT NOT NULL,
	proposal TEXT NOT NULL,
	action TEXT NOT NULL,
	attempt INTEGER NOT NULL,
	scope TEXT NOT NULL CHECK (json_valid(scope)),
	state TEXT NOT NULL CHECK (state IN ('proposed', 'approved', 'dispatched', 'completed', 'failed', 'denied', 'indeterminate')),
	allowed_by TEXT NOT NULL,
	receipt TEXT NOT NULL,
	reason TEXT NOT NULL,
	updated INTEGER NOT NULL
) STRICT;
CREATE INDEX actions_open ON actions (session, state) WHERE state IN ('proposed', 'approved', 'dispatched');
CREATE INDEX actions_session ON actions (session, call_id);
CREATE TRIGGER actions_terminal BEFORE UPDATE OF state ON actions
WHEN OLD.state IN ('completed', 'failed', 'denied', 'indeterminate') BEGIN
	SELECT RAISE(ABORT, 'a terminal state stays');
END;
CREATE TRIGGER actions_keep BEFORE DELETE ON actions BEGIN
	SELECT RAISE(ABORT, 'effects are kept');
END;

CREATE TABLE action_log (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	action_id TEXT NOT NULL REFERENCES actions (id),
	old TEXT NOT NULL,
	new TEXT NOT NULL,
	by TEXT NOT NULL,
	reason TEXT NOT NULL,
	receipt TEXT NOT NULL,
	at INTEGER NOT NULL
) STRICT;
CREATE INDEX action_log_action ON action_log (action_id);
CREATE TRIGGER action_log_keep_update BEFORE UPDATE OF n, action_id, old, new, by, reason, at ON action_log BEGIN
	SELECT RAISE(ABORT, 'the log of moves is append-only');
END;
CREATE TRIGGER action_log_keep_receipt BEFORE UPDATE OF receipt ON action_log
WHEN coalesce((SELECT s.deleted FROM actions a JOIN sessions s ON s.id = a.session WHERE a.id = OLD.action_id), 0) = 0 BEGIN
	SELECT RAISE(ABORT, 'the log of moves is append-only');
END;
CREATE TRIGGER action_log_keep_delete BEFORE DELETE ON action_log BEGIN
	SELECT RAISE(ABORT, 'the log of moves is append-only');
END;

CREATE TABLE approvals (
	id TEXT PRIMARY KEY NOT NULL CHECK (id <> ''),
	session TEXT NOT NULL,
	action_id TEXT NOT NULL REFERENCES actions (id),
	tier TEXT NOT NULL,
	reversibility TEXT NOT NULL,
	asked INTEGER NOT NULL,
	expires INTEGER NOT NULL,
	decided INTEGER NOT NULL DEFAULT 0,
	decision TEXT NOT NULL DEFAULT '',
	by TEXT NOT NULL DEFAULT '',
	reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX approvals_session ON approvals (session, decided);
CREATE INDEX approvals_action ON approvals (action_id);

CREATE TABLE grants (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	session TEXT NOT NULL,
	rule TEXT NOT NULL CHECK (rule <> ''),
	at INTEGER NOT NULL,
	revoked INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX grants_standing ON grants (session, rule) WHERE revoked = 0;
`

const schemaRest = `
CREATE TABLE decisions (
	fingerprint TEXT PRIMARY KEY NOT NULL CHECK (fingerprint <> ''),
	tier TEXT NOT NULL,
	approved INTEGER NOT NULL,
	reviewer TEXT NOT NULL CHECK (reviewer <> ''),
	reason TEXT NOT NULL,
	at INTEGER NOT NULL
);

CREATE TABLE anchors (
	session TEXT PRIMARY KEY NOT NULL CHECK (session <> ''),
	body TEXT NOT NULL CHECK (json_valid(body)),
	at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE inputs (
	id INTEGER PRIMARY KEY AUTOINCREMENT,
	session TEXT NOT NULL REFERENCES sessions (id),
	mode TEXT NOT NULL CHECK (mode IN ('queue', 'steer')),
	body TEXT NOT NULL CHECK (json_valid(body)),
	state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'returned', 'withdrawn')),
	created INTEGER NOT NULL
) STRICT;
CREATE INDEX inputs_open ON inputs (session, id) WHERE state IN ('pending', 'returned');
CREATE TRIGGER inputs_once BEFORE UPDATE ON inputs WHEN OLD.state IN ('delivered', 'withdrawn') BEGIN
	SELECT RAISE(ABORT, 'an input is delivered once');
END;

CREATE TABLE leases (
	session TEXT PRIMARY KEY NOT NULL,
	token TEXT NOT NULL,
	pid INTEGER NOT NULL,
	boot TEXT NOT NULL,
	beat INTEGER NOT NULL
) STRICT;

CREATE TABLE goals (
	session TEXT PRIMARY KEY NOT NULL REFERENCES sessions (id),
	objective TEXT NOT NULL,
	check_cmd TEXT NOT NULL,
	max_iterations INTEGER NOT NULL,
	status TEXT NOT NULL,
	last_iteration INTEGER NOT NULL,
	last_met INTEGER NOT NULL,
	last_grounded INTEGER NOT NULL,
	last_reason TEXT NOT NULL,
	terminal_kind TEXT NOT NULL,
	terminal_message TEXT NOT NULL,
	updated INTEGER NOT NULL
) STRICT;

CREATE TABLE blobs (
	sha256 TEXT PRIMARY KEY NOT NULL,
	bytes BLOB NOT NULL,
	media_type TEXT NOT NULL
) STRICT;
CREATE TABLE blob_uses (
	session TEXT NOT NULL REFERENCES sessions (id),
	sha256 TEXT NOT NULL REFERENCES blobs (sha256),
	PRIMARY KEY (session, sha256)
) STRICT, WITHOUT ROWID;
CREATE INDEX blob_uses_blob ON blob_uses (sha256);

CREATE TABLE usage (
	n INTEGER PRIMARY KEY AUTOINCREMENT,
	session TEXT NOT NULL REFERENCES sessions (id),
	turn INTEGER NOT NULL,
	step INTEGER NOT NULL,
	provider TEXT NOT NULL,
	model TEXT NOT NULL,
	input INTEGER NOT NULL,
	output INTEGER NOT NULL,
	cache_read INTEGER NOT NULL,
	cache_write INTEGER NOT NULL,
	reasoning INTEGER NOT NULL,
	cost_micros INTEGER,
	estimated INTEGER NOT NULL
) STRICT;
CREATE INDEX usage_session ON usage (session, turn);

CREATE TABLE trust (
	root TEXT NOT NULL,
	path TEXT NOT NULL,
	digest TEXT NOT NULL,
	at INTEGER NOT NULL,
	PRIMARY KEY (root, path)
) STRICT, WITHOUT ROWID;
`

// migrate brings the schema to the newest step, each step in a transaction of
// its own with its number, after a copy of what was there.
func (db *DB) migrate(ctx context.Context, steps []string) error {
	has, err := db.version(ctx)
	if err != nil || has == len(steps) {
		return err
	}
	if has > 0 && has < len(steps) {
		if err := db.backup(ctx, has); err != nil {
			return err
		}
	}
	for {
		done, err := db.step(ctx, steps)
		if done || err != nil {
			return err
		}
	}
}

// step applies the next migration. Another process may have been first: the
// version is read inside the transaction.
func (db *DB) step(ctx context.Context, steps []string) (done bool, err error) {
	err = db.update(ctx, func(tx *sql.Tx) error {
		var has int
		if err := tx.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&has); err != nil {
			return err
		}
		if has > len(steps) {
			return &NewerError{Path: db.path, Has: has, Knows: len(steps)}
		}
		if done = has == len(steps); done {
			return nil
		}
		if _, err := tx.ExecContext(ctx, steps[has]); err != nil {
			return fmt.Errorf("migration %d: %w", has+1, err)
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, has+1))
		return err
	})
	return done, err
}

func (db *DB) version(ctx context.Context) (has int, err error) {
	err = patiently(ctx, func() error {
		return db.write.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&has)
	})
	return has, err
}

// backup writes a whole copy beside the file before a migration. A copy of the
// same version that is there already is kept: it is the older one.
func (db *DB) backup(ctx context.Context, version int) error {
	path := fmt.Sprintf("%s.v%d", db.path, version)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("copy before migration: %w", err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if _, err := db.write.ExecContext(ctx, `VACUUM INTO ?`, path); err != nil {
		return errors.Join(fmt.Errorf("copy before migration: %w", err), os.Remove(path))
	}
	return nil
}
