package nightly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/client"
	"kneesweep/internal/accuracy"
	"kneesweep/record/history"
	"kneesweep/report"
	"kneesweep/sim"
	"kneesweep/sim/pipe"
)

// start is when virtual time begins.
var start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// open opens a history; call it in the bubble that uses it.
func open(t *testing.T, path string) *history.DB {
	t.Helper()
	at, err := history.ParseAddress(path)
	if err != nil {
		t.Fatal(err)
	}
	db, err := history.Open(context.Background(), at, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func loop(db *history.DB, host string) *Loop {
	return &Loop{DB: db, Host: host, Log: slog.New(slog.DiscardHandler)}
}

func nights(t *testing.T, fields string) Schedule {
	t.Helper()
	s, err := ParseSchedule(fields, "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// starts lists what became of all starts, the oldest first.
func starts(t *testing.T, db *history.DB) string {
	t.Helper()
	all, err := db.Starts(context.Background(), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, s := range all {
		lines = append([]string{s.Due.Format("02 15:04 ") + s.Outcome}, lines...)
	}
	return strings.Join(lines, ", ")
}

// runFor runs a loop for a while.
func runFor(t *testing.T, l *Loop, d time.Duration, jobs ...Job) {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), d)
	defer stop()
	if err := l.Run(ctx, jobs); err != nil {
		t.Error(err)
	}
}

// TestNightlySweep: when a job is due, a whole sweep of the simulated endpoint runs
// over a network in memory, finds the knee that the endpoint has, and lands in the
// history.
func TestNightlySweep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, path)
		defer db.Close()
		s := accuracy.Setting{Slots: 6, Levels: []int{1, 2, 4, 8, 12}, Step: 10 * time.Millisecond, Output: 12, Window: 100 * time.Millisecond}
		job := Job{Name: "chat", Schedule: nights(t, "30 2 * * *"), Target: "http://sim/v1", Run: func(ctx context.Context, due time.Time) error {
			return sweepInto(ctx, db, s, due)
		}}
		runFor(t, loop(db, "here"), 27*time.Hour, job)
		if got := starts(t, db); got != "01 02:30 done, 02 02:30 done" {
			t.Error(got)
		}
		entries, err := db.List(context.Background(), history.Filter{})
		if err != nil || len(entries) != 2 {
			t.Fatalf("%d runs: %v", len(entries), err)
		}
		for i, e := range entries {
			due := start.Add(26*time.Hour + 30*time.Minute - time.Duration(i)*24*time.Hour)
			if !e.Started.Equal(due) || e.Verdict != "knee" || e.Knee.V.Value < 5 || e.Knee.V.Value > 7 {
				t.Errorf("%+v, want a knee at 6 streams of %v", e, due)
			}
		}
	})
}

// sweepInto sweeps a simulated endpoint and keeps the run.
func sweepInto(ctx context.Context, db *history.DB, s accuracy.Setting, due time.Time) error {
	e, err := sim.New(s.Endpoint(1))
	if err != nil {
		return err
	}
	defer e.Close()
	network := pipe.Listen(pipe.Config{})
	defer e.Serve(network)()
	epoch := time.Now()
	c, err := client.New(client.Config{URL: "http://sim/v1", Model: "sim", Epoch: epoch, Dial: network.Dial, Connections: 16})
	if err != nil {
		return err
	}
	defer c.Close()
	data, err := accuracy.Sweep(c, epoch, s, s.Grid(1), 1)
	if err != nil {
		return err
	}
	data.Run.ID, data.Run.Started = "run-"+due.Format("02"), epoch.Round(0)
	curve := analysis.Analyze(data)
	document, err := report.MarshalCurve(curve)
	if err != nil {
		return err
	}
	_, err = db.Put(ctx, history.Record{Curve: curve, Document: document, Failure: analysis.Unusable(data, curve)})
	return err
}

// TestStarts: what is due while the last one runs is skipped, what fails is a
// failure, what nobody started is missed, and all of it is written down.
func TestStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, path)
		defer db.Close()
		n := 0
		job := Job{Name: "j", Schedule: nights(t, "0 * * * *"), Target: "x", Run: func(context.Context, time.Time) error {
			n++
			switch n {
			case 2:
				time.Sleep(150 * time.Minute)
			case 3:
				return errors.New("no curve")
			}
			return nil
		}}
		runFor(t, loop(db, "here"), 6*time.Hour+time.Minute, job)
		time.Sleep(2 * time.Hour) // nobody is there
		runFor(t, loop(db, "here"), time.Hour, job)
		const want = "01 01:00 done, 01 02:00 done, 01 03:00 skipped, 01 04:00 skipped, 01 05:00 failed, 01 06:00 done, 01 07:00 missed, 01 08:00 missed, 01 09:00 done"
		if got := starts(t, db); got != want || n != 5 {
			t.Errorf("%d runs: %s\nwant %s", n, got, want)
		}
	})
}

// TestTwoHosts: of two hosts with the same jobs one starts each, and two jobs of one
// target never run at once, even if the sweep takes longer than a lease.
func TestTwoHosts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, path)
		defer db.Close()
		sweeping, ran := 0, map[string]int{}
		job := func(name, fields string) Job {
			return Job{Name: name, Schedule: nights(t, fields), Jitter: 3 * time.Minute, Target: "one", Run: func(context.Context, time.Time) error {
				sweeping++
				if sweeping > 1 {
					t.Errorf("two sweeps of one target at %v", time.Now())
				}
				time.Sleep(20 * time.Minute)
				sweeping--
				ran[name]++
				return nil
			}}
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			runFor(t, loop(db, "a"), 50*time.Hour, job("shared", "30 2 * * *"), job("late", "40 2 * * *"))
		}()
		runFor(t, loop(db, "b"), 50*time.Hour, job("shared", "30 2 * * *"), job("other", "35 2 * * *"))
		<-done
		if ran["shared"] != 2 {
			t.Errorf("%v, want every shared start once\n%s", ran, starts(t, db))
		}
		if ran["late"]+ran["other"] < 2 {
			t.Errorf("%v: %s", ran, starts(t, db))
		}
	})
}

// TestLeaseOfTheDead: the lease of a host that died ends by itself, and a sweep
// whose lease was taken is ended.
func TestLeaseOfTheDead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, path)
		defer db.Close()
		ctx := context.Background()
		dead := history.Lease{Target: "x", Holder: "dead", Expires: time.Now().Add(leaseLength)}
		if held, err := db.Acquire(ctx, dead, time.Now()); err != nil || held.Holder != "dead" {
			t.Fatal(held, err)
		}
		ran := 0
		job := Job{Name: "j", Target: "x", Run: func(ctx context.Context, _ time.Time) error {
			ran++
			select {
			case <-ctx.Done():
				return fmt.Errorf("ended: %w", context.Cause(ctx))
			case <-time.After(time.Hour):
				return nil
			}
		}}
		if err := loop(db, "b").Once(ctx, job, time.Now()); !errors.As(err, new(Held)) || ran != 0 {
			t.Errorf("ran %d: %v", ran, err)
		}
		time.Sleep(leaseLength)
		if err := loop(db, "b").Once(ctx, job, time.Now()); err != nil || ran != 1 {
			t.Errorf("ran %d: %v", ran, err)
		}
		go func() {
			time.Sleep(30*time.Minute + renewal/2) // somebody takes it by force, between two renewals
			if err := db.Release(ctx, history.Lease{Target: "x", Holder: "b"}); err != nil {
				t.Error(err)
			}
			_, _ = db.Acquire(ctx, history.Lease{Target: "x", Holder: "c", Expires: time.Now().Add(time.Hour)}, time.Now())
		}()
		if err := loop(db, "b").Once(ctx, job, time.Now()); !errors.Is(err, errLost) {
			t.Errorf("%v, want the loss of the lease", err)
		}
	})
}
