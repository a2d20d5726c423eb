package journal_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/record/journal"
)

// BenchmarkSample writes requests of 128 chunks with 20 % jitter around 20 ms, once
// with their chunks and once without, and reports what they take in the file.
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
	for _, keep := range []string{load.KeepChunks, load.KeepRequests, load.KeepNone} {
		b.Run(keep, func(b *testing.B) {
			var file bytes.Buffer
			w := journal.NewWriter(&file, load.Run{Settings: load.Settings{Journal: keep}})
			for b.Loop() {
				w.Sample(&s)
			}
			if err := w.Close(load.StatusComplete, ""); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(file.Len())/float64(b.N), "bytes/request")
		})
	}
}
