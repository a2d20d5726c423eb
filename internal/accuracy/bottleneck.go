package accuracy

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"kneesweep/load"
)

// Bottleneck is an endpoint without slots that something beside its decoding holds
// back. It is a Sender that exchanges no bytes, for use inside a synctest bubble. Of
// Prefill and Streams exactly one is above 0.
type Bottleneck struct {
	Epoch   time.Time
	Token   time.Duration // between the tokens of a stream that nothing holds back
	Output  int           // mean tokens of an answer; lengths are even between half of it and one and a half
	Noise   float64       // CV of the speed of what holds back, redrawn each second
	Prefill time.Duration // prompts are worked on one at a time, aside of the decoding, each for so long
	Streams int           // what the way to it carries at full speed: with more, each token and each dial takes longer
	Late    bool          // it is the client that is too slow for more Streams: stamps are late and shared
	Seed    uint64

	mu     sync.Mutex
	rng    *rand.Rand
	active int
	free   time.Duration // when the prompts so far are worked on
	second int64
	factor float64
}

// speed is the factor of the current second, about 1.
func (b *Bottleneck) speed(now time.Duration) float64 {
	if s := int64(now / time.Second); b.rng == nil || s != b.second {
		if b.rng == nil {
			b.rng = rand.New(rand.NewPCG(b.Seed, 0xb0))
		}
		b.second, b.factor = s, math.Exp(b.Noise*b.rng.NormFloat64())
	}
	return b.factor
}

// enter counts a stream in and returns how long its answer is, how long dialling
// took, and when its prompt is worked on.
func (b *Bottleneck) enter(now time.Duration) (tokens int, dial, ready time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	speed := b.speed(now)
	b.active++
	tokens = b.Output/2 + b.rng.IntN(b.Output+1)
	ready = now + time.Millisecond
	if b.Prefill > 0 {
		work := time.Duration(float64(b.Prefill) * (1 + 0.1*b.rng.NormFloat64()) / speed)
		b.free = max(b.free, now) + max(work, b.Prefill/10)
		return tokens, 0, b.free
	}
	if b.Streams > 0 && !b.Late {
		over := max(0, float64(b.active)/float64(b.Streams)-1) // a full way queues what is sent on it
		dial = 2*time.Millisecond + time.Duration(over*float64(10*time.Millisecond))
	}
	return tokens, dial, ready + dial
}

// gap is the time to the next token.
func (b *Bottleneck) gap(now time.Duration) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	speed := b.speed(now)
	t := float64(b.Token) * (1 + 0.2*b.rng.NormFloat64())
	if b.Streams > 0 {
		t = max(t, float64(b.Token)*float64(b.active)/float64(b.Streams)/speed*(1+0.2*b.rng.NormFloat64()))
	}
	return time.Duration(max(t, float64(b.Token)/10))
}

// overdue is whether the client is late for the tokens of all streams.
func (b *Bottleneck) overdue() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Late && b.active > b.Streams
}

// Send is one request.
func (b *Bottleneck) Send(ctx context.Context, p load.Prompt) load.Sample {
	now := func() time.Duration { return time.Since(b.Epoch) }
	s := load.Sample{ID: p.ID, Sent: now(), Streaming: true, Protocol: "none", Clock: load.ClockKernel, ContentAt: 1, Status: 200}
	tokens, dial, ready := b.enter(s.Sent)
	s.Connect, s.Dialled = dial, dial > 0
	defer func() { b.mu.Lock(); b.active--; b.mu.Unlock() }()
	var lags load.Lags
	held := 0 // tokens that will be read with a later one
	for i, at := 0, ready; i < tokens; i++ {
		select {
		case <-time.After(at - now()):
		case <-ctx.Done():
			s.Cause, s.End, s.Lag = load.CauseCanceled, now(), lags.Lag()
			if len(s.Chunks) == 0 {
				s.ContentAt = 0
			}
			return s
		}
		at = now() + b.gap(now())
		if b.overdue() && i%4 == 1 && i < tokens-1 {
			held++
			continue
		}
		s.Coalesced += held
		for ; held >= 0; held-- {
			s.Chunks = append(s.Chunks, load.Chunk{At: now()})
			if b.overdue() {
				lags.Add(2 * b.Token)
			} else {
				lags.Add(50 * time.Microsecond)
			}
			if p.Arrived != nil {
				p.Arrived(now())
			}
		}
		held = 0
	}
	s.End, s.Lag = now(), lags.Lag()
	s.OutputTokens, s.TokenSource, s.PromptTokens, s.FinishReason = tokens, load.SourceServer, load.Some(p.InputTokens), "stop"
	return s
}
