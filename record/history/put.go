package history

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"kneesweep/analysis"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// Record is a run to be kept.
type Record struct {
	Curve    analysis.Curve
	Document []byte   // the curve as JSON, as the run's curve.json holds it
	Failure  string   // why there is no curve; empty = there is one
	Labels   []string // beside the label of the run
	Replace  bool     // takes the place of what is there of this run: it went on
}

// rowsAtOnce bounds the rows of one statement: PostgreSQL takes 65,535 values,
// SQLite 32,766.
const rowsAtOnce = 2000

// Put keeps a run. It is there whole when Put returns without an error, and not at
// all otherwise. A run whose ID is there already stays as it is, and added is
// false: to import twice does no harm.
func (d *DB) Put(ctx context.Context, r Record) (added bool, err error) {
	if r.Curve.Run.ID == "" || r.Curve.Run.Started.IsZero() {
		return false, d.at.fault(errors.New("the run has no ID or no time at which it started; only runs of kneesweep can be kept"))
	}
	err = d.write(ctx, func(tx *sql.Tx) error {
		if r.Replace {
			if _, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE id = $1", r.Curve.Run.ID); err != nil {
				return err
			}
		}
		added, err = putRun(ctx, tx, r)
		if err != nil || !added {
			return err
		}
		return putParts(ctx, tx, r)
	})
	return added && err == nil, d.at.fault(err)
}

func putRun(ctx context.Context, tx *sql.Tx, r Record) (added bool, err error) {
	run, k := r.Curve.Run, r.Curve.Knee
	knee := k.Concurrency
	level := plateau(r.Curve)
	if r.Failure != "" { // what failed is no point of any trend
		knee, level = load.Opt[load.Estimate]{}, load.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
	}
	var recommended any
	if c := r.Curve.Recommended.Concurrency; c.OK && r.Failure == "" {
		recommended = c.V
	}
	done, err := tx.ExecContext(ctx, `INSERT INTO runs (id, started, tool, target, model, shape, label, status, failure, verdict,
		knee, knee_lo, knee_hi, plateau, plateau_lo, plateau_hi, recommended)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT (id) DO NOTHING`,
		run.ID, run.Started.UnixMicro(), clean(run.Tool), clean(run.Target), clean(run.Model), Shape(run), clean(run.Label), string(run.Status), clean(r.Failure), string(k.Verdict),
		null(knee.V.Value, knee.OK), null(knee.V.Lo, knee.OK), null(knee.V.Hi, knee.OK),
		null(level.Value, true), null(level.Lo, true), null(level.Hi, true), recommended)
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n == 1, err
}

// putParts writes what belongs to a run.
func putParts(ctx context.Context, tx *sql.Tx, r Record) error {
	id := r.Curve.Run.ID
	var steps, windows, knees, config, labels [][]any
	for _, s := range r.Curve.Steps {
		x, ok := s.Throughput.V, s.Throughput.OK && s.Valid
		steps = append(steps, []any{id, s.Concurrency, bit(s.Valid), null(x.Value, ok), null(x.Lo, ok), null(x.Hi, ok),
			quantile(s.TTFT, s.TTFT.P50), quantile(s.TTFT, s.TTFT.P95), quantile(s.TPOT, s.TPOT.P50), quantile(s.TPOT, s.TPOT.P95),
			null(s.ErrorRate.V, s.ErrorRate.OK)})
		for i, x := range s.Measurements {
			windows = append(windows, []any{id, s.Concurrency, i, null(x, true)})
		}
	}
	for _, e := range r.Curve.Estimates {
		x, ok := e.Concurrency.V, e.Concurrency.OK
		knees = append(knees, []any{id, clean(e.Method), null(x.Value, ok), null(x.Lo, ok), null(x.Hi, ok)})
	}
	for _, s := range settings(r.Curve.Run) {
		config = append(config, []any{id, s[0], clean(s[1])})
	}
	seen := map[string]bool{"": true}
	for _, l := range append([]string{r.Curve.Run.Label}, r.Labels...) {
		if !seen[l] {
			labels = append(labels, []any{id, clean(l)})
		}
		seen[l] = true
	}
	for _, t := range []struct {
		into string
		rows [][]any
	}{
		{"steps (run_id, concurrency, valid, rate, rate_lo, rate_hi, ttft_p50, ttft_p95, tpot_p50, tpot_p95, error_rate)", steps},
		{"measurements (run_id, concurrency, number, rate)", windows},
		{"knees (run_id, method, knee, lo, hi)", knees},
		{"documents (run_id, document)", [][]any{{id, string(r.Document)}}},
		{"config (run_id, name, value)", config},
		{"labels (run_id, label)", labels},
	} {
		if err := insert(ctx, tx, t.into, t.rows); err != nil {
			return err
		}
	}
	return nil
}

// insert writes rows of equal length, many with each statement.
func insert(ctx context.Context, tx *sql.Tx, into string, rows [][]any) error {
	for len(rows) > 0 {
		n := min(len(rows), rowsAtOnce)
		var text strings.Builder
		text.WriteString("INSERT INTO " + into + " VALUES ")
		var values []any
		for i, row := range rows[:n] {
			if i > 0 {
				text.WriteByte(',')
			}
			for j, v := range row {
				values = append(values, v)
				text.WriteString(map[bool]string{true: "($", false: ",$"}[j == 0] + strconv.Itoa(len(values)))
			}
			text.WriteByte(')')
		}
		text.WriteString(" ON CONFLICT DO NOTHING") // a foreign file may name a method twice
		if _, err := tx.ExecContext(ctx, text.String(), values...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// plateau is the fitted plateau with the 95 % interval of the median of all windows
// of the valid levels from the knee on. The interval tells the noise within the
// run, and nothing of what differs from night to night.
func plateau(c analysis.Curve) load.Estimate {
	nan := math.NaN()
	e := load.Estimate{Value: nan, Lo: nan, Hi: nan}
	if !c.Knee.Plateau.OK {
		return e
	}
	e.Value = c.Knee.Plateau.V
	from := c.Knee.Concurrency.V.Value // 0 without a knee: where nothing rises all is plateau
	var windows []float64
	for _, s := range c.Steps {
		if s.Valid && float64(s.Concurrency) >= from {
			windows = append(windows, s.Measurements...)
		}
	}
	if lo, hi, ok := stat.MedianInterval(windows, 0.95); ok {
		e.Lo, e.Hi = min(lo, e.Value), max(hi, e.Value)
	}
	return e
}

// Shape says what was asked of the endpoint, as the history tells series apart.
func Shape(r load.Run) string { return clean(shape(r)) }

// shape says what was asked of the endpoint. A seed makes other prompts of the same
// shape; a data set is a shape of its own.
func shape(r load.Run) string {
	q := r.Request
	data := r.DatasetHash
	if strings.HasPrefix(q.Source, "synthetic") {
		_, data, _ = strings.Cut(q.Source, ", every ") // the canaries among them
	}
	return fmt.Sprintf("%s in=%d%s out=%d%s stream=%t cache=%s data=%s", q.Dialect, q.InputTokensAsked, q.InputLengths.Asked,
		q.OutputTokensAsked, q.OutputLengths.Asked, q.Stream, q.Cache, data)
}

// settings are how a run was measured, as names and values.
func settings(r load.Run) [][2]string {
	s := r.Settings
	all := [][2]string{
		{"seed", strconv.FormatUint(r.Seed, 10)}, {"dataset_hash", r.DatasetHash}, {"source", r.Request.Source}, {"dialect", r.Request.Dialect},
		{"input_tokens", strconv.Itoa(r.Request.InputTokensAsked)}, {"output_tokens", strconv.Itoa(r.Request.OutputTokensAsked)},
		{"window", s.Window.String()}, {"measurements", strconv.Itoa(s.Measurements)}, {"passes", strconv.Itoa(s.Passes)},
		{"requests", strconv.Itoa(s.Requests)}, {"think", s.Think.String()}, {"warmup", strconv.Itoa(s.Warmup)},
		{"max_error_rate", strconv.FormatFloat(s.MaxErrorRate, 'g', -1, 64)}, {"precision", strconv.FormatFloat(s.Precision, 'g', -1, 64)},
		{"slo", s.SLO}, {"extra", r.Request.Extra}, {"stop_reason", r.StopReason},
	}
	kept := all[:0]
	for _, p := range all {
		if p[1] != "" {
			kept = append(kept, p)
		}
	}
	return kept
}

// null is a number, or NULL where it is undefined or not finite.
func null(x float64, ok bool) any {
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return x
}

func quantile(d load.Dist, x float64) any { return null(x, d.Count > 0) }

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// clean is text that PostgreSQL takes: UTF-8 without zero bytes.
func clean(s string) string { return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "") }
