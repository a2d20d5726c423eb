package load

import "time"

// TokenSource says where a token count came from.
type TokenSource string

// The sources of a token count, most trusted first.
const (
	SourceServer       TokenSource = "server"        // usage sent by the server
	SourceServerScaled TokenSource = "server_scaled" // server usage, unfinished requests scaled by the step's tokens per chunk
	SourceEstimated    TokenSource = "estimated"     // token-bearing chunks counted
)

// Chunk is one token-bearing event of a stream.
type Chunk struct {
	At     time.Duration // arrival, offset from the run's epoch
	Tokens int32         // tokens that it carried if the server's usage grew with it; 0 = not known
}

// Sample is one timed request, successful or not. A failed request is data.
//
// With the symbols of docs/method.md: t0 = Sent, tF = first chunk, tL = last
// chunk, tE = End, n = Streamed(), n1 = tokens in the first chunk.
type Sample struct {
	ID     int64
	Visit  int  // index of the visit during which it was sent
	Warmup bool // sent while its visit was still warming up

	Sent      time.Duration      // t0: immediately before the request is handed to the HTTP client
	End       time.Duration      // tE: [DONE] or end of the body, whichever comes first; for failures the moment of failure
	Dispatch  Opt[time.Duration] // from the end of the worker's previous request to Sent, deliberate waits excluded
	Dialled   bool               // a new connection was made for it
	Connect   time.Duration      // time spent dialling and in TLS; defined when Dialled
	Chunks    []Chunk            // arrivals of the token-bearing events, in order; empty without streaming
	ContentAt int                // 1 + index of the first chunk with content (not reasoning, not a tool call); 0 = none
	Streaming bool               // the answer came as a stream

	Cause      Cause // empty = success
	Status     int   // HTTP status; 0 = no answer
	Error      string
	RetryAfter Opt[time.Duration]

	OutputTokens    int         // generated tokens, hidden ones included
	HiddenTokens    int         // billed but never streamed
	TokenSource     TokenSource // empty when there is no token
	PromptTokens    Opt[int]
	CachedTokens    Opt[int]
	ReasoningTokens Opt[int]
	FinishReason    string
	Model           string
	Fingerprint     string
	Text            string // content, kept only when asked for

	Malformed int  // frames that could not be understood
	Coalesced int  // token-bearing events that shared their read, and so their stamp, with an earlier one
	Reused    bool // sent on a connection that was already open
	Replayed  int  // times net/http sent it again on another connection
	Retries   int  // attempts after the first
	Protocol  string
	Clock     string // "kernel" or "user": who stamped the arrivals
	Warnings  []Warning
}

// Failed reports whether the request did not succeed.
func (s *Sample) Failed() bool { return s.Cause != "" }

// Streamed returns n: output tokens that arrived over the wire.
func (s *Sample) Streamed() int { return s.OutputTokens - s.HiddenTokens }

// FirstTokens returns n1, the tokens in the first chunk: its increment when
// known, else 1.
func (s *Sample) FirstTokens() int {
	if len(s.Chunks) > 0 && s.Chunks[0].Tokens > 0 {
		return int(s.Chunks[0].Tokens)
	}
	return 1
}

// FirstToken returns tF, undefined without a streamed token.
func (s *Sample) FirstToken() Opt[time.Duration] {
	if len(s.Chunks) == 0 {
		return Opt[time.Duration]{}
	}
	return Some(s.Chunks[0].At)
}

// LastToken returns tL, undefined without a streamed token.
func (s *Sample) LastToken() Opt[time.Duration] {
	if len(s.Chunks) == 0 {
		return Opt[time.Duration]{}
	}
	return Some(s.Chunks[len(s.Chunks)-1].At)
}

// TTFT is time to first token, tF - t0.
func (s *Sample) TTFT() Opt[time.Duration] {
	if len(s.Chunks) == 0 {
		return Opt[time.Duration]{}
	}
	return Some(s.Chunks[0].At - s.Sent)
}

// TTFC is time to first content: the first chunk that is neither reasoning nor
// a tool call.
func (s *Sample) TTFC() Opt[time.Duration] {
	if s.ContentAt == 0 {
		return Opt[time.Duration]{}
	}
	return Some(s.Chunks[s.ContentAt-1].At - s.Sent)
}

// TPOT is time per output token, (tL - tF) / (n - n1) in seconds, undefined
// when n - n1 < 1.
func (s *Sample) TPOT() Opt[float64] {
	after := s.Streamed() - s.FirstTokens()
	if len(s.Chunks) == 0 || after < 1 {
		return Opt[float64]{}
	}
	return Some((s.Chunks[len(s.Chunks)-1].At - s.Chunks[0].At).Seconds() / float64(after))
}

// E2E is tE - t0.
func (s *Sample) E2E() time.Duration { return s.End - s.Sent }

// TokensPerChunk returns n/m, the streamed tokens of a request whose count is
// known spread over its m chunks; undefined without chunks or tokens.
func (s *Sample) TokensPerChunk() Opt[float64] {
	if len(s.Chunks) == 0 || s.Streamed() <= 0 {
		return Opt[float64]{}
	}
	return Some(float64(s.Streamed()) / float64(len(s.Chunks)))
}

// Incremental reports whether every chunk carries its own token count (the
// server's usage grew with each).
func (s *Sample) Incremental() bool {
	for i := range s.Chunks {
		if s.Chunks[i].Tokens == 0 {
			return false
		}
	}
	return len(s.Chunks) > 0
}
