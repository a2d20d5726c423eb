package history

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationLock is the number of the lock under which PostgreSQL changes its schema.
const migrationLock = 0x6b6e6565 // "knee"

// migrations are the statements of each version, in their order; version n is
// element n-1. A file that was released never changes.
func migrations() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	scripts := make([]string, len(names))
	for i, name := range names {
		b, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		scripts[i] = string(b)
	}
	return scripts, nil
}

// migrate brings the schema up to date. Those who open a history at once wait for
// the one that does it.
func (d *DB) migrate(ctx context.Context) error {
	scripts, err := migrations()
	if err != nil {
		return err
	}
	if v, err := version(ctx, d.sql); err == nil && v == len(scripts) {
		return nil // the common case takes no lock
	}
	return d.write(ctx, func(tx *sql.Tx) error {
		if !d.lite {
			if _, err := tx.ExecContext(ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock); err != nil {
				return err
			}
		}
		if _, err := tx.ExecContext(ctx, `CREATE TABLE IF NOT EXISTS kneesweep_schema (version BIGINT PRIMARY KEY)`); err != nil {
			return err
		}
		v, err := version(ctx, tx)
		if err != nil {
			return err
		}
		if v > len(scripts) {
			return fmt.Errorf("its schema has version %d and this program knows up to %d; use a newer kneesweep", v, len(scripts))
		}
		for ; v < len(scripts); v++ {
			if _, err := tx.ExecContext(ctx, scripts[v]); err != nil {
				return fmt.Errorf("migration %d: %w", v+1, err)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO kneesweep_schema (version) VALUES ($1)`, v+1); err != nil {
				return err
			}
		}
		return nil
	})
}

// querier is what can be asked: a pool or a transaction.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// version is that of the schema; 0 = there is none yet.
func version(ctx context.Context, q querier) (int, error) {
	var v sql.NullInt64
	err := q.QueryRowContext(ctx, `SELECT max(version) FROM kneesweep_schema`).Scan(&v)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return int(v.Int64), err
}
