package history

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// SetBaseline makes a run the one that others of its target, model and shape are
// held against; there is one for each such series. A failed run cannot be it.
func (d *DB) SetBaseline(ctx context.Context, text string) (id string, err error) {
	id, err = d.Find(ctx, text)
	if err != nil {
		return "", err
	}
	err = d.write(ctx, func(tx *sql.Tx) error {
		var failure, target, model, shape string
		err := tx.QueryRowContext(ctx, "SELECT failure, target, model, shape FROM runs WHERE id = $1", id).Scan(&failure, &target, &model, &shape)
		switch {
		case err != nil:
			return err
		case failure != "":
			return errors.New(id + " has no curve: " + failure)
		}
		_, err = tx.ExecContext(ctx, `UPDATE runs SET baseline = CASE WHEN id = $1 THEN 1 ELSE 0 END
			WHERE target = $2 AND model = $3 AND shape = $4 AND (baseline = 1 OR id = $1)`, id, target, model, shape)
		return err
	})
	return id, d.at.fault(err)
}

// ClearBaseline takes the mark away again.
func (d *DB) ClearBaseline(ctx context.Context, text string) (id string, err error) {
	id, err = d.Find(ctx, text)
	if err != nil {
		return "", err
	}
	err = d.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE runs SET baseline = 0 WHERE id = $1", id)
		return err
	})
	return id, d.at.fault(err)
}

// Baselines returns the baselines of all series, the newest first.
func (d *DB) Baselines(ctx context.Context) ([]Entry, error) {
	entries, err := d.entries(ctx, "SELECT "+columns+" FROM runs WHERE baseline = 1 ORDER BY started DESC, id DESC")
	return entries, d.at.fault(err)
}

// Prunable returns the runs that started before a time, baselines excepted, the
// oldest first.
func (d *DB) Prunable(ctx context.Context, before time.Time) ([]Entry, error) {
	entries, err := d.entries(ctx, "SELECT "+columns+" FROM runs WHERE started < $1 AND baseline = 0 ORDER BY started, id", before.UnixMicro())
	return entries, d.at.fault(err)
}

// Prune removes what Prunable returns, and says how many runs went.
func (d *DB) Prune(ctx context.Context, before time.Time) (removed int, err error) {
	err = d.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE started < $1 AND baseline = 0", before.UnixMicro())
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		removed = int(n)
		return err
	})
	return removed, d.at.fault(err)
}
