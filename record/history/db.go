// Package history keeps past sweeps in a database: SQLite in one file by default,
// PostgreSQL by URL. Both have one schema, in migrations. Any number of processes
// may write to one history at once; a run is written whole or not at all.
package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	sqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

const (
	busyTimeout    = 30 * time.Second // how long a writer waits for the others
	connectTimeout = 5 * time.Second
	busyPause      = 20 * time.Millisecond
)

// DB is an open history. It is safe for concurrent use. The text of its errors
// names the place and holds no password.
type DB struct {
	sql  *sql.DB
	at   Address
	lite bool
}

// Open opens a history and brings its schema up to date. Unless create is set, a
// file that is not there is an error.
func Open(ctx context.Context, at Address, create bool) (*DB, error) {
	db, err := connect(at, create)
	if err == nil {
		if err = db.migrate(ctx); err != nil {
			_ = db.sql.Close()
		}
	}
	if err != nil {
		return nil, at.fault(err)
	}
	return db, nil
}

// connect prepares the connections; SQLite opens its file with the first statement.
func connect(at Address, create bool) (*DB, error) {
	if !at.Local() {
		config, err := pgx.ParseConfig(at.url)
		if err != nil {
			return nil, errors.New("the URL has an option that PostgreSQL does not know, or a value that does not fit it")
		}
		if config.ConnectTimeout == 0 {
			config.ConnectTimeout = connectTimeout
		}
		pool := stdlib.OpenDB(*config)
		pool.SetMaxOpenConns(4)
		return &DB{sql: pool, at: at}, nil
	}
	info, err := os.Stat(at.file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !create:
		return nil, errors.New("no such file")
	case err == nil && info.IsDir():
		return nil, errors.New("is a folder; give a file in it")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, bare(err)
	}
	if err := os.MkdirAll(filepath.Dir(at.file), 0o755); err != nil {
		return nil, bare(err)
	}
	path, err := filepath.Abs(at.file)
	if err != nil {
		return nil, err
	}
	// A transaction takes the lock of writers when it begins: two that read first
	// and write later would refuse each other. FULL syncs each commit to the disk.
	options := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
	}}
	pool, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path, RawQuery: options.Encode()}).String())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(4)
	return &DB{sql: pool, at: at, lite: true}, nil
}

// Close closes the history.
func (d *DB) Close() error { return d.at.fault(d.sql.Close()) }

// At is where the history is.
func (d *DB) At() Address { return d.at }

// write runs f in a transaction, again for as long as other writers are in its
// way: SQLite does not wait for them while the file changes to its journal mode,
// PostgreSQL ends one of two that wait for each other.
func (d *DB) write(ctx context.Context, f func(*sql.Tx) error) error {
	deadline := time.Now().Add(busyTimeout)
	for {
		err := d.once(ctx, f)
		if err == nil || !passing(err) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(busyPause):
		}
	}
}

func (d *DB) once(ctx context.Context, f func(*sql.Tx) error) error {
	tx, err := d.sql.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		_ = tx.Rollback() // the cause is err
		return err
	}
	return tx.Commit()
}

// passing reports whether an error is that of another writer in the way.
func passing(err error) bool {
	var lite *sqlite.Error
	var server *pgconn.PgError
	switch {
	case errors.As(err, &lite):
		return lite.Code()&0xff == sqlite3.SQLITE_BUSY
	case errors.As(err, &server):
		return server.Code == "40001" || server.Code == "40P01" // serialization failure, deadlock
	}
	return false
}

// fault names the place of an error, in words without secrets.
func (a Address) fault(err error) error {
	var lite *sqlite.Error
	var refused *pgconn.ConnectError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled), errors.Is(err, errUnknown), errors.Is(err, errAmbiguous):
		return fmt.Errorf("history %s: %w", a, err)
	case errors.As(err, &lite) && lite.Code()&0xff == sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("history %s: not a database of SQLite; give another file", a)
	case errors.As(err, &refused): // its own text lists user and database
		lines := strings.Split(strings.TrimSpace(refused.Unwrap().Error()), "\n")
		err = errors.New(lines[len(lines)-1]) // of several tries, the one without TLS is the last
	}
	return fmt.Errorf("history %s: %s", a, a.masker.Mask(err.Error()))
}

// bare strips the operation and the path from an error of the file system.
func bare(err error) error {
	var perr *fs.PathError
	if errors.As(err, &perr) {
		return perr.Err
	}
	return err
}
