package history

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

// TestPut: what goes in comes out, once, and the parts of a run are there.
func TestPut(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, where string) {
		db := open(t, where)
		r := record("a", night(0).Add(123456*time.Microsecond))
		r.Labels = []string{"job:chat", "nightly"}
		r.Curve.Run.StopReason = "bytes \xff and \x00 that no database takes"
		put(t, db, r)
		if added, err := db.Put(t.Context(), r); added || err != nil {
			t.Errorf("a second time: added %t, %v", added, err)
		}
		entries, err := db.List(t.Context(), Filter{})
		if err != nil || len(entries) != 1 {
			t.Fatalf("%d entries: %v", len(entries), err)
		}
		e := entries[0]
		if e.ID != "a" || !e.Started.Equal(r.Curve.Run.Started) || e.Target != "http://127.0.0.1/v1" || e.Model != "m" || e.Label != "nightly" ||
			e.Status != "complete" || e.Failure != "" || e.Verdict != "knee" || e.Recommended != load.Some(24) || e.Baseline {
			t.Errorf("%+v", e)
		}
		if !e.Knee.OK || !sameEstimate(e.Knee.V, load.Estimate{Value: 24, Lo: 22, Hi: 26.5}) {
			t.Errorf("knee %+v", e.Knee)
		}
		if p := e.Plateau; !p.OK || p.V.Value != 2400 || !(p.V.Lo < 2400 && p.V.Hi > 2400 && p.V.Lo > 2390 && p.V.Hi < 2410) {
			t.Errorf("plateau %+v", p)
		}
		if got, err := db.Document(t.Context(), "a"); err != nil || !bytes.Equal(got, r.Document) {
			t.Errorf("document of %d bytes, want %d: %v", len(got), len(r.Document), err)
		}
		for query, want := range map[string]int{
			"SELECT count(*) FROM steps WHERE valid = 1":                                   8,
			"SELECT count(*) FROM measurements WHERE rate > 0":                             80,
			"SELECT count(*) FROM knees WHERE knee IS NULL AND method = 'usl'":             1,
			"SELECT count(*) FROM labels":                                                  2,
			"SELECT count(*) FROM config WHERE name = 'slo' AND value = 'ttft_p95<=500ms'": 1,
		} {
			n := -1
			if err := db.sql.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != want {
				t.Errorf("%s: %d, want %d: %v", query, n, want, err)
			}
		}
	})
}

// TestNothingOfAFailedRun: a run that failed has no point at 0 tokens/s.
func TestNothingOfAFailedRun(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, where string) {
		db := open(t, where)
		put(t, db, failedRecord("f", night(0)))
		entries, err := db.List(t.Context(), Filter{})
		if err != nil || len(entries) != 1 || entries[0].Plateau.OK || entries[0].Knee.OK || entries[0].Recommended.OK || entries[0].Failure == "" {
			t.Errorf("%+v: %v", entries, err)
		}
		if entries, err := db.Series(t.Context(), Filter{}); err != nil || len(entries) != 0 {
			t.Errorf("a trend of failures: %+v: %v", entries, err)
		}
		if _, err := db.SetBaseline(t.Context(), "f"); err == nil {
			t.Error("a failed run is a baseline")
		}
	})
}

// TestFilters: lists and trends hold what was asked for, in their order.
func TestFilters(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, where string) {
		db := open(t, where)
		for i := range 6 {
			r := record(fmt.Sprintf("run-%d", i), night(i))
			switch i {
			case 1:
				r.Curve.Run.Model = "other"
			case 2:
				r.Curve.Run.Request.OutputTokensAsked = 999
			case 3:
				r.Curve.Run.Seed, r.Curve.Run.DatasetHash = 8, "another"
				r.Labels = []string{"special"}
			}
			put(t, db, r)
		}
		put(t, db, failedRecord("run-6", night(6)))
		for _, c := range []struct {
			f    Filter
			want string
		}{
			{Filter{}, "run-6 run-5 run-4 run-3 run-2 run-1 run-0"},
			{Filter{Limit: 2}, "run-6 run-5"},
			{Filter{Model: "other"}, "run-1"},
			{Filter{Label: "special"}, "run-3"},
			{Filter{Target: "nowhere"}, ""},
			{Filter{Since: night(5)}, "run-6 run-5"},
			{Filter{Curves: true, Limit: 1}, "run-5"},
		} {
			if got, err := db.List(t.Context(), c.f); err != nil || ids(got) != c.want {
				t.Errorf("list %+v: %s, want %s: %v", c.f, ids(got), c.want, err)
			}
		}
		for _, c := range []struct {
			f    Filter
			want string
		}{
			{Filter{}, "run-0 run-3 run-4 run-5"}, // another seed is the same shape
			{Filter{Limit: 2}, "run-4 run-5"},
			{Filter{Model: "other"}, "run-1"},
		} {
			if got, err := db.Series(t.Context(), c.f); err != nil || ids(got) != c.want {
				t.Errorf("series %+v: %s, want %s: %v", c.f, ids(got), c.want, err)
			}
		}
	})
}

// TestFind: an ID may be shortened as long as one run is meant.
func TestFind(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, where string) {
		db := open(t, where)
		for i, id := range []string{"ab1", "ab2", "ab", "c_x"} {
			put(t, db, record(id, night(i)))
		}
		for text, want := range map[string]string{"ab1": "ab1", "ab": "ab", "c": "c_x", "latest": "c_x", "a": "", "z": "", "": "", "c%": "", "AB1": ""} {
			id, err := db.Find(t.Context(), text)
			if id != want || (err != nil) != (want == "") || want == "" && !IsUnknown(err) {
				t.Errorf("%q: %q, want %q: %v", text, id, want, err)
			}
		}
	})
}

// TestBaselineAndPrune: one baseline for each series, which no pruning removes.
func TestBaselineAndPrune(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, where string) {
		db := open(t, where)
		for i := range 4 {
			put(t, db, record(fmt.Sprintf("r%d", i), night(i)))
		}
		other := record("o", night(9))
		other.Curve.Run.Model = "other"
		put(t, db, other)
		for _, id := range []string{"r2", "o", "r1"} { // r1 takes the place of r2
			if got, err := db.SetBaseline(t.Context(), id); err != nil || got != id {
				t.Fatal(got, err)
			}
		}
		if got, err := db.Baselines(t.Context()); err != nil || ids(got) != "o r1" {
			t.Errorf("baselines %s: %v", ids(got), err)
		}
		if got, err := db.Prunable(t.Context(), night(3)); err != nil || ids(got) != "r0 r2" {
			t.Errorf("prunable %s: %v", ids(got), err)
		}
		if n, err := db.Prune(t.Context(), night(3)); err != nil || n != 2 {
			t.Errorf("%d pruned: %v", n, err)
		}
		if got, err := db.List(t.Context(), Filter{}); err != nil || ids(got) != "o r3 r1" {
			t.Errorf("left %s: %v", ids(got), err)
		}
		orphans := -1
		if err := db.sql.QueryRowContext(t.Context(), "SELECT count(*) FROM measurements WHERE run_id NOT IN (SELECT id FROM runs)").Scan(&orphans); err != nil || orphans != 0 {
			t.Errorf("%d windows of pruned runs are left: %v", orphans, err)
		}
		if _, err := db.ClearBaseline(t.Context(), "r1"); err != nil {
			t.Error(err)
		}
		if got, err := db.Baselines(t.Context()); err != nil || ids(got) != "o" {
			t.Errorf("baselines %s: %v", ids(got), err)
		}
	})
}

// TestNewerSchema: a history of a later program is left alone.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, where string) {
		db := open(t, where)
		if _, err := db.sql.ExecContext(t.Context(), "INSERT INTO kneesweep_schema (version) VALUES (9999)"); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), db.at, true); err == nil || !strings.Contains(err.Error(), "use a newer kneesweep") {
			t.Error(err)
		}
	})
}

// TestWrongPlaces: each is refused in words, and what is there stays as it is.
func TestWrongPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	content := []byte(strings.Repeat("my notes\n", 200))
	if err := os.WriteFile(text, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{
		filepath.Join(dir, "none.db"): "no such file",
		dir:                           "is a folder",
		text:                          "not a database of SQLite",
	} {
		at, err := ParseAddress(where)
		if err != nil {
			t.Fatal(err)
		}
		if db, err := Open(t.Context(), at, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v (%v), want %s", where, err, db, want)
		}
	}
	if got, err := os.ReadFile(text); err != nil || !bytes.Equal(got, content) {
		t.Errorf("the file has changed: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "none.db")); err == nil {
		t.Error("reading made a file")
	}
	odd := filepath.Join(dir, "a b?c=#%20.db")
	put(t, open(t, odd), record("a", night(0)))
	if _, err := os.Stat(odd); err != nil {
		t.Error(err)
	}
}
