package history

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

// postgresVariable holds the URL of a server on which databases may be made.
const postgresVariable = "KNEESWEEP_TEST_POSTGRES"

// TestMain makes this binary a writer when a test starts it as one.
func TestMain(m *testing.M) {
	if where := os.Getenv(writerVariable); where != "" {
		os.Exit(writer(where))
	}
	os.Exit(m.Run())
}

// both runs a test against an empty history of each kind.
func both(t *testing.T, test func(t *testing.T, where string)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, filepath.Join(t.TempDir(), "h.db"))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, postgres(t))
	})
}

// postgres makes an empty database and returns its URL.
func postgres(t testing.TB) string {
	t.Helper()
	server := os.Getenv(postgresVariable)
	if server == "" {
		t.Skip(postgresVariable + " names no PostgreSQL server; .ci/run starts one")
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	name := "kneesweep_" + strings.ToLower(rand.Text()[:12])
	admin, err := sql.Open("pgx", server)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.ExecContext(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
			t.Error(err)
		}
		admin.Close()
	})
	u.Path = "/" + name
	return u.String()
}

// open opens a history for a test.
func open(t testing.TB, where string) *DB {
	t.Helper()
	at, err := ParseAddress(where)
	if err != nil {
		t.Fatal(err)
	}
	db, err := Open(context.Background(), at, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// night is when run number i started.
func night(i int) time.Time { return time.Date(2026, 1, 1, 2, 30, 0, 0, time.UTC).AddDate(0, 0, i) }

// record is a run of eight levels with ten windows each and a knee at 24 streams.
func record(id string, started time.Time) Record {
	c := analysis.Curve{
		Run: load.Run{
			ID: id, Started: started, Tool: "kneesweep test", Target: "http://127.0.0.1/v1", Model: "m", Label: "nightly", Seed: 7, Status: load.StatusComplete,
			Request:  load.RequestShape{Dialect: "chat", InputTokensAsked: 256, OutputTokensAsked: 128, Stream: true, Source: "synthetic"},
			Settings: load.Settings{Window: time.Second, Measurements: 10, Passes: 2, SLO: "ttft_p95<=500ms"},
		},
		Knee: knee.Result{Verdict: knee.Found, Method: "segmented", Concurrency: load.Some(load.Estimate{Value: 24, Lo: 22, Hi: 26.5}), Plateau: load.Some(2400.0)},
		Estimates: []knee.Estimate{
			{Method: "segmented", Concurrency: load.Some(load.Estimate{Value: 24, Lo: 22, Hi: 26.5})},
			{Method: "usl", Note: "no maximum"},
		},
		Recommended: analysis.Recommended{Concurrency: load.Some(24), LimitedBy: "knee"},
	}
	for n := 1; n <= 128; n *= 2 {
		s := load.Step{Concurrency: n, Valid: true, TTFT: load.Dist{P50: 0.1, P95: 0.2, Count: 100}, ErrorRate: load.Some(0.0)}
		x := min(100*float64(n), 2400)
		for w := range 10 {
			s.Measurements = append(s.Measurements, x+float64(w)-4.5)
		}
		s.Throughput = load.Some(load.Estimate{Value: x, Lo: x - 3, Hi: x + 3})
		c.Steps = append(c.Steps, s)
	}
	return Record{Curve: c, Document: document(id)}
}

// document stands for a curve.json, in its size.
func document(id string) []byte {
	return fmt.Appendf(nil, `{"schema":"kneesweep/curve/v1","run":{"id":%q},"pad":%q}`+"\n", id, bytes.Repeat([]byte("x"), 30_000))
}

// failedRecord is a run that the endpoint did not let begin.
func failedRecord(id string, started time.Time) Record {
	r := record(id, started)
	r.Failure = "the preflight failed (connect)"
	r.Curve = analysis.Curve{Run: r.Curve.Run, Knee: knee.Result{Verdict: knee.TooFewLevels, Plateau: load.Some(0.0)}}
	return r
}

func put(t testing.TB, db *DB, r Record) {
	t.Helper()
	if added, err := db.Put(context.Background(), r); err != nil || !added {
		t.Fatalf("added %t: %v", added, err)
	}
}

func ids(entries []Entry) string {
	var all []string
	for _, e := range entries {
		all = append(all, e.ID)
	}
	return strings.Join(all, " ")
}

func sameEstimate(a, b load.Estimate) bool {
	same := func(x, y float64) bool { return x == y || math.IsNaN(x) && math.IsNaN(y) }
	return same(a.Value, b.Value) && same(a.Lo, b.Lo) && same(a.Hi, b.Hi)
}
