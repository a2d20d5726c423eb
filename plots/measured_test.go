package plots_test

import (
	"math/rand/v2"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

// endpoint is a server with slots: each decodes one request at a time, a little
// slower the more are busy, and the rest waits in a queue.
type endpoint struct {
	slots   int
	prefill time.Duration
	gap     time.Duration // between two tokens of a request that is alone
	rng     *rand.Rand
}

const answerTokens = 40

// levels is what the examples measure.
var levels = []int{1, 2, 4, 8, 12, 16, 24, 32}

// measured is what a closed loop measures of e: all levels on the way up and on
// the way down, five windows of two seconds each time.
func measured(e endpoint) analysis.Data {
	d := analysis.Data{Run: load.Run{
		Started: time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC), Target: "http://gpu-7.example:8000/v1", Model: "llama-3.1-8b-instruct",
		Status: load.StatusComplete, Seed: 1,
		Request:  load.RequestShape{InputTokensAsked: 512, OutputTokensAsked: answerTokens, Stream: true, Dialect: "chat"},
		Settings: load.Settings{Measurements: 10, Passes: 2, MaxErrorRate: 0.05},
	}}
	e.rng = rand.New(rand.NewPCG(1, 2))
	at := time.Duration(0)
	for i := range 2 * len(levels) {
		n, pass := levels[min(i, 2*len(levels)-1-i)], i/len(levels)
		v := load.Visit{Index: i, Level: load.Level{Concurrency: n, Windows: 5, Pass: pass}, Started: at}
		at += 3 * time.Second
		for range v.Level.Windows {
			v.Windows = append(v.Windows, load.Span{From: at, To: at + 2*time.Second})
			at += 2 * time.Second
		}
		d.Visits = append(d.Visits, v)
		d.Samples = append(d.Samples, e.visit(v, at)...)
	}
	return d
}

// visit are the requests of one visit that ends at a time. Requests are served in
// the order in which they are sent, each by the slot that is free first.
func (e endpoint) visit(v load.Visit, end time.Duration) []load.Sample {
	free := make([]time.Duration, e.slots)
	next := make([]time.Duration, v.Level.Concurrency)
	for i := range next {
		next[i] = v.Started + time.Duration(i)*37*time.Millisecond
	}
	var all []load.Sample
	for {
		stream := earliest(next)
		if next[stream] >= end {
			return all
		}
		slot := earliest(free)
		s := e.answer(next[stream], max(next[stream], free[slot]), min(v.Level.Concurrency, e.slots))
		free[slot], next[stream] = s.End, s.End
		s.ID, s.Visit = int64(1000*v.Index+len(all)), v.Index
		if s.End > end {
			s.Cause, s.End, s.TokenSource = load.CauseCanceled, end, load.SourceEstimated
			for len(s.Chunks) > 0 && s.Chunks[len(s.Chunks)-1].At >= end {
				s.Chunks = s.Chunks[:len(s.Chunks)-1]
			}
			s.OutputTokens, s.ContentAt = len(s.Chunks), min(1, len(s.Chunks))
		}
		all = append(all, s)
	}
}

// answer is one request, sent at a time and begun at another, with busy slots.
func (e endpoint) answer(sent, begun time.Duration, busy int) load.Sample {
	s := load.Sample{
		Sent: sent, Status: 200, Streaming: true, Reused: true, ContentAt: 1,
		OutputTokens: answerTokens, TokenSource: load.SourceServer, FinishReason: "length",
	}
	vary := func(d time.Duration) time.Duration { return time.Duration(float64(d) * (0.9 + 0.2*e.rng.Float64())) }
	at := begun + vary(e.prefill)
	slow := 0.85 + 0.3*e.rng.Float64()
	for range answerTokens {
		s.Chunks = append(s.Chunks, load.Chunk{At: at})
		gap := vary(time.Duration(float64(e.gap) * slow * (1 + 0.01*float64(busy))))
		if e.rng.IntN(40*e.slots) < busy { // the prefill of another request comes between
			gap += vary(e.prefill)
		}
		at += gap
	}
	s.End = s.Chunks[len(s.Chunks)-1].At
	return s
}

// earliest is the index of the least time.
func earliest(times []time.Duration) int {
	best := 0
	for i, t := range times {
		if t < times[best] {
			best = i
		}
	}
	return best
}
