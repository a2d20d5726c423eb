//go:build accuracy

package accuracy_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/record/journal"
)

const (
	largeRequests = 1_000_000
	largeChunks   = 200
)

// TestLargeJournal lets the command analyse a journal of a million requests of 200
// chunks, and prints its time and its memory.
func TestLargeJournal(t *testing.T) {
	dir := t.TempDir()
	binary, file := filepath.Join(dir, "kneesweep"), filepath.Join(dir, "journal.jsonl")
	build := exec.Command("go", "build", "-o", binary, "kneesweep/cmd/kneesweep")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	writeLarge(t, file)
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "analyze", file)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(began)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	t.Logf("%d requests of %d chunks, %.2f GB: %.0f s, %.0f s of CPU, %.0f MiB resident at most\n%s", largeRequests, largeChunks,
		float64(info.Size())/1e9, took.Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), float64(usage.Maxrss)/1024, out)
	if usage.Maxrss > 1<<20 {
		t.Errorf("%d KiB were resident, want at most 1 GiB", usage.Maxrss)
	}
}

// writeLarge writes a run of twelve levels and two passes on an endpoint with 64
// slots and 20 ms a token, as many requests as each level ends in windows of one length.
func writeLarge(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	run := load.Run{ID: "large", Seed: 1, Settings: load.Settings{Measurements: 10, Passes: 2, MaxErrorRate: 0.05}, Request: load.RequestShape{Stream: true}}
	w := journal.NewWriter(f, run)
	levels := []int{8, 16, 24, 32, 48, 64, 80, 96, 128, 160, 192, 256}
	per := 0 // requests at a time, over all visits
	for _, n := range levels {
		per += 2 * min(n, 64)
	}
	rounds := (largeRequests + per - 1) / per
	const life = largeChunks * 20 * time.Millisecond
	rng := rand.New(rand.NewPCG(1, 1))
	at, id, index := time.Duration(0), int64(0), 0
	for pass := range 2 {
		for i := range levels {
			n := levels[i]
			if pass == 1 {
				n = levels[len(levels)-1-i]
			}
			span := load.Span{From: at, To: at + time.Duration(rounds)*life}
			v := load.Visit{Index: index, Level: load.Level{Concurrency: n, Windows: 5, Pass: pass}, Started: at}
			for k := range time.Duration(5) {
				v.Windows = append(v.Windows, load.Span{From: at + k*(span.To-at)/5, To: at + (k+1)*(span.To-at)/5})
			}
			w.Visit(&v)
			for round := range rounds {
				for slot := range min(n, 64) {
					if id++; id > largeRequests {
						break
					}
					w.Sample(largeRequest(rng, id, index, n, span.From+time.Duration(round)*life+time.Duration(slot)*life/64))
				}
			}
			index, at = index+1, span.To
		}
	}
	if err := w.Close(load.StatusComplete, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// largeRequest begins to decode at a time, and was sent as much earlier as the
// streams beyond the slots make it wait.
func largeRequest(rng *rand.Rand, id int64, visit, n int, at time.Duration) *load.Sample {
	wait := time.Duration(max(0, n-64)) * largeChunks * 20 * time.Millisecond / 64
	s := &load.Sample{
		ID: id, Visit: visit, Sent: max(0, at-wait), Streaming: true, Reused: true, Status: 200, ContentAt: 1, OutputTokens: largeChunks,
		TokenSource: load.SourceServer, PromptTokens: load.Some(128), FinishReason: "length", Model: "model", Protocol: "HTTP/1.1", Clock: load.ClockKernel,
		Chunks: make([]load.Chunk, largeChunks),
	}
	for i := range s.Chunks {
		s.Chunks[i].At = at + time.Duration(float64(20*time.Millisecond)*(float64(i)+0.5+0.2*rng.NormFloat64()))
		if i > 0 {
			s.Chunks[i].At = max(s.Chunks[i].At, s.Chunks[i-1].At)
		}
	}
	s.End = s.Chunks[largeChunks-1].At + time.Millisecond
	return s
}
