package history

import (
	"context"
	"database/sql"
)

// LevelRow is what a run measured at one number of streams.
type LevelRow struct {
	Concurrency int
	Rate        float64 // tokens/s
	TTFT        float64 // median, seconds; 0 = not known
}

// Levels returns the valid levels of the runs that a filter chooses, by the ID of the
// run. Limit does not bound it.
func (d *DB) Levels(ctx context.Context, f Filter) (map[string][]LevelRow, error) {
	condition, values := f.where()
	if condition == "" {
		condition = " WHERE 1 = 1"
	}
	rows, err := d.sql.QueryContext(ctx, "SELECT run_id, concurrency, rate, ttft_p50 FROM steps JOIN runs ON run_id = id"+
		condition+" AND valid = 1 AND rate IS NOT NULL ORDER BY run_id, concurrency", values...)
	if err != nil {
		return nil, d.at.fault(err)
	}
	defer rows.Close()
	all := map[string][]LevelRow{}
	for rows.Next() {
		var id string
		var l LevelRow
		var ttft sql.NullFloat64
		if err := rows.Scan(&id, &l.Concurrency, &l.Rate, &ttft); err != nil {
			return nil, d.at.fault(err)
		}
		l.TTFT = ttft.Float64
		all[id] = append(all[id], l)
	}
	return all, d.at.fault(rows.Err())
}
