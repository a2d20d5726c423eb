package journal_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/record/journal"
)

// BenchmarkSample writes requests of 128 chunks with 20 % jitter around 20 ms,
// and reports what they take in the file.
func BenchmarkSample(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	s := load.Sample{
		ID: 1, Sent: time.Second, Streaming: true, Reused: true, Status: 200, ContentAt: 1, OutputTokens: 128,
		TokenSource: load.SourceServer, PromptTokens: load.Some(128), FinishReason: "length", Model: "model", Protocol: "HTTP/1.1", Clock: "user",
	}
	at := s.Sent
	for range 128 {
		at += time.Duration(20e6 * (1 + 0.2*rng.NormFloat64()))
		s.Chunks = append(s.Chunks, load.Chunk{At: at})
	}
	s.End = at
	var file bytes.Buffer
	w := journal.NewWriter(&file, load.Run{})
	for b.Loop() {
		w.Sample(&s)
	}
	if err := w.Close(load.StatusComplete, ""); err != nil {
		b.Fatal(err)
	}
	perRequest := float64(file.Len()) / float64(b.N)
	s.Chunks = nil
	file.Reset()
	w = journal.NewWriter(&file, load.Run{})
	for range 1000 {
		w.Sample(&s)
	}
	if err := w.Close(load.StatusComplete, ""); err != nil {
		b.Fatal(err)
	}
	bare := float64(file.Len()) / 1000
	b.ReportMetric((perRequest-bare)/128, "bytes/chunk")
	b.ReportMetric(bare, "bytes/request")
}
