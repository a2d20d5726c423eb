package history

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Lease is the right to sweep a target. It ends by itself, so that a host that dies
// holds nothing up. Hosts that share a history need clocks that agree within its length.
type Lease struct {
	Target, Holder string
	Expires        time.Time
}

// Acquire takes or prolongs a lease. It returns what holds from now on, which is the
// lease of another holder when that has not expired by now.
func (d *DB) Acquire(ctx context.Context, want Lease, now time.Time) (held Lease, err error) {
	held.Target = want.Target
	err = d.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO leases (target, holder, expires) VALUES ($1, $2, $3)
			ON CONFLICT (target) DO UPDATE SET holder = excluded.holder, expires = excluded.expires
			WHERE leases.holder = excluded.holder OR leases.expires <= $4`, want.Target, want.Holder, want.Expires.UnixMicro(), now.UnixMicro())
		if err != nil {
			return err
		}
		var expires int64
		err = tx.QueryRowContext(ctx, "SELECT holder, expires FROM leases WHERE target = $1", want.Target).Scan(&held.Holder, &expires)
		held.Expires = time.UnixMicro(expires).UTC()
		return err
	})
	return held, d.at.fault(err)
}

// Release gives a lease back; one that is held by another stays.
func (d *DB) Release(ctx context.Context, l Lease) error {
	return d.at.fault(d.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM leases WHERE target = $1 AND holder = $2", l.Target, l.Holder)
		return err
	}))
}

// Start is what became of one time at which a job was due.
type Start struct {
	Job     string
	Due     time.Time
	Host    string
	Outcome string
	Note    string // why, in words
}

// ClaimStart writes a start unless some host has written it already.
func (d *DB) ClaimStart(ctx context.Context, s Start) (claimed bool, err error) {
	err = d.write(ctx, func(tx *sql.Tx) error {
		done, err := tx.ExecContext(ctx, `INSERT INTO starts (job, due, host, outcome, note) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (job, due) DO NOTHING`, s.Job, s.Due.UnixMicro(), s.Host, s.Outcome, clean(s.Note))
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		claimed = n == 1
		return err
	})
	return claimed && err == nil, d.at.fault(err)
}

// EndStart says what became of a start that was claimed.
func (d *DB) EndStart(ctx context.Context, s Start) error {
	return d.at.fault(d.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, "UPDATE starts SET outcome = $1, note = $2 WHERE job = $3 AND due = $4",
			s.Outcome, clean(s.Note), s.Job, s.Due.UnixMicro())
		return err
	}))
}

// LastStart returns the latest start of a job that is known; false = none.
func (d *DB) LastStart(ctx context.Context, job string) (due time.Time, known bool, err error) {
	var micro sql.NullInt64
	err = d.sql.QueryRowContext(ctx, "SELECT max(due) FROM starts WHERE job = $1", job).Scan(&micro)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return due, false, d.at.fault(err)
	}
	return time.UnixMicro(micro.Int64).UTC(), micro.Valid, nil
}

// Starts returns the latest starts of all jobs, the newest first, limit at most.
func (d *DB) Starts(ctx context.Context, limit int) (starts []Start, err error) {
	rows, err := d.sql.QueryContext(ctx, "SELECT job, due, host, outcome, note FROM starts ORDER BY due DESC, job LIMIT $1", limit)
	if err != nil {
		return nil, d.at.fault(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s Start
		var due int64
		if err := rows.Scan(&s.Job, &due, &s.Host, &s.Outcome, &s.Note); err != nil {
			return nil, d.at.fault(err)
		}
		s.Due = time.UnixMicro(due).UTC()
		starts = append(starts, s)
	}
	return starts, d.at.fault(rows.Err())
}
