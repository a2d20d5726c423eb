package history

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The environment of a writer: where it writes, the beginning of its IDs, and how
// many runs.
const (
	writerVariable = "KNEESWEEP_TEST_WRITER"
	prefixVariable = "KNEESWEEP_TEST_PREFIX"
	countVariable  = "KNEESWEEP_TEST_COUNT"
)

// writer is a process that writes runs and prints the ID of each when it is kept.
func writer(where string) int {
	n, err := strconv.Atoi(os.Getenv(countVariable))
	at, aerr := ParseAddress(where)
	if err != nil || aerr != nil {
		fmt.Fprintln(os.Stderr, err, aerr)
		return 1
	}
	db, err := Open(context.Background(), at, true)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer db.Close()
	for i := range n {
		id := fmt.Sprintf("%s%04d", os.Getenv(prefixVariable), i)
		if added, err := db.Put(context.Background(), record(id, night(i))); err != nil || !added {
			fmt.Fprintln(os.Stderr, id, added, err)
			return 1
		}
		fmt.Println(id)
	}
	return 0
}

// startWriter starts one as a process of its own.
func startWriter(t *testing.T, where, prefix string, n int) (*exec.Cmd, io.Reader) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), writerVariable+"="+where, prefixVariable+"="+prefix, fmt.Sprintf("%s=%d", countVariable, n))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// TestTwoWriters: two processes write at once into a history that neither finds
// there, and nothing is lost.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	n := 1000
	if testing.Short() {
		n = 50
	}
	both(t, func(t *testing.T, where string) {
		a, outA := startWriter(t, where, "a", n)
		b, outB := startWriter(t, where, "b", n)
		go io.Copy(io.Discard, outA)
		_, _ = io.Copy(io.Discard, outB)
		if err := a.Wait(); err != nil {
			t.Error(err)
		}
		if err := b.Wait(); err != nil {
			t.Error(err)
		}
		db := open(t, where)
		entries, err := db.List(t.Context(), Filter{})
		if err != nil || len(entries) != 2*n {
			t.Errorf("%d runs, want %d: %v", len(entries), 2*n, err)
		}
		whole(t, db, 2*n)
	})
}

// whole checks that every run has all of its parts.
func whole(t *testing.T, db *DB, runs int) {
	t.Helper()
	for table, each := range map[string]int{"steps": 8, "measurements": 80, "knees": 2, "labels": 1} {
		n := -1
		if err := db.sql.QueryRowContext(t.Context(), "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != runs*each {
			t.Errorf("%d %s, want %d: %v", n, table, runs*each, err)
		}
	}
}

// TestKilledWriters kills a writer after it has said that some runs are kept, which
// is while it writes the next: the history opens, and all that was said is there,
// and nothing by halves.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	kills := 50
	if testing.Short() {
		kills = 5
	}
	both(t, func(t *testing.T, where string) {
		draw := rand.New(rand.NewPCG(1, 2))
		said := map[string]bool{}
		for k := range kills {
			cmd, out := startWriter(t, where, fmt.Sprintf("k%02d-", k), 1_000_000)
			lines := bufio.NewScanner(out)
			for last := draw.IntN(4); lines.Scan(); last-- {
				said[lines.Text()] = true
				for range draw.IntN(200_000) { // into the next write, by a different amount each time
				}
				if last == 0 {
					break
				}
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() { // what it said before it died
				said[lines.Text()] = true
			}
			if err := cmd.Wait(); err == nil {
				t.Fatal("the writer was not killed")
			}
			db := open(t, where)
			entries, err := db.List(t.Context(), Filter{})
			if err != nil {
				t.Fatal(err)
			}
			kept := " " + ids(entries) + " "
			for id := range said {
				if !strings.Contains(kept, " "+id+" ") {
					t.Errorf("kill %d: %s is lost", k, id)
				}
			}
			if k == kills-1 {
				whole(t, db, len(entries))
				sound(t, db)
			}
		}
	})
}

// sound asks SQLite to check its file.
func sound(t *testing.T, db *DB) {
	t.Helper()
	if !db.lite {
		return
	}
	var verdict string
	if err := db.sql.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&verdict); err != nil || verdict != "ok" {
		t.Errorf("%s: %v", verdict, err)
	}
}

// BenchmarkTenThousandRuns is docs/bench.md's figure of lists and trends.
func BenchmarkTenThousandRuns(b *testing.B) {
	for _, kind := range []string{"sqlite", "postgres"} {
		b.Run(kind, func(b *testing.B) {
			where := filepath.Join(b.TempDir(), "h.db")
			if kind == "postgres" {
				where = postgres(b)
			}
			db := open(b, where)
			for i := range 10_000 {
				put(b, db, record(fmt.Sprintf("%05d", i), night(i)))
			}
			for name, ask := range map[string]func(context.Context, Filter) ([]Entry, error){"list": db.List, "trend": db.Series} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if entries, err := ask(b.Context(), Filter{}); err != nil || len(entries) != 10_000 {
							b.Fatal(len(entries), err)
						}
					}
				})
			}
		})
	}
}
