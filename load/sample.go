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

// Who stamped the arrivals of a sample.
const (
	ClockKernel = "kernel" // the kernel, when the bytes came: each chunk
	ClockUser   = "user"   // this process, when a read returned: some chunks, or all
)

// Chunk is one token-bearing event of a stream.
type Chunk struct {
	At     time.Duration // arrival, offset from the run's epoch
	Tokens int32         // tokens that it carried if the server's usage grew with it; 0 = not known
}

// Sample is one timed request, successful or not. A failed request is data.
//
// In JSON, where there are millions of them, names are short and zero fields
// are left out.
//
// With the symbols of docs/method.md: t0 = Sent, tF = first chunk, tL = last
// chunk, tE = End, n = Streamed(), n1 = tokens in the first chunk.
type Sample struct {
	ID     int64 `json:"id,omitzero"`
	Visit  int   `json:"visit,omitzero"`  // index of the visit during which it was sent
	Warmup bool  `json:"warmup,omitzero"` // sent while its visit was still warming up

	Scheduled Opt[time.Duration] `json:"scheduled,omitzero"`  // in an open loop, when it was meant to be sent
	Sent      time.Duration      `json:"sent,omitzero"`       // t0: immediately before the request is handed to the HTTP client
	End       time.Duration      `json:"end,omitzero"`        // tE: [DONE] or end of the body, whichever comes first; for failures the moment of failure
	Dispatch  Opt[time.Duration] `json:"dispatch,omitzero"`   // from the end of the worker's previous request to Sent, deliberate waits excluded
	Drain     time.Duration      `json:"drain,omitzero"`      // the part of Dispatch in which the connection of the previous request was not free yet
	Dialled   bool               `json:"dialled,omitzero"`    // a new connection was made for it
	Connect   time.Duration      `json:"connect,omitzero"`    // time spent dialling and in TLS; defined when Dialled
	Chunks    []Chunk            `json:"chunks,omitzero"`     // arrivals of the token-bearing events, in order; empty without streaming
	ContentAt int                `json:"content_at,omitzero"` // 1 + index of the first chunk with content (not reasoning, not a tool call); 0 = none
	Streaming bool               `json:"streaming,omitzero"`  // the answer came as a stream

	Cause      Cause              `json:"cause,omitzero"`  // empty = success
	Status     int                `json:"status,omitzero"` // HTTP status; 0 = no answer
	Error      string             `json:"error,omitzero"`
	RetryAfter Opt[time.Duration] `json:"retry_after,omitzero"`

	OutputTokens    int         `json:"tokens,omitzero"` // generated tokens, hidden ones included
	HiddenTokens    int         `json:"hidden,omitzero"` // billed but never streamed
	TokenSource     TokenSource `json:"source,omitzero"` // empty when there is no token
	PromptTokens    Opt[int]    `json:"prompt,omitzero"`
	CachedTokens    Opt[int]    `json:"cached,omitzero"`
	ReasoningTokens Opt[int]    `json:"reasoning,omitzero"`
	FinishReason    string      `json:"finish,omitzero"`
	Model           string      `json:"model,omitzero"`
	Fingerprint     string      `json:"fingerprint,omitzero"`
	Headers         []string    `json:"headers,omitzero"`     // of the response, "Name: value" each, those asked for
	Text            string      `json:"text,omitzero"`        // content, kept only when asked for; the beginning of it where a canary was not answered as expected
	Canary          int         `json:"canary,omitzero"`      // number of a question with a known answer, from 1; 0 = it was none
	AsExpected      bool        `json:"as_expected,omitzero"` // the answer to the canary was the known one

	Malformed int       `json:"malformed,omitzero"` // frames that could not be understood
	Coalesced int       `json:"coalesced,omitzero"` // token-bearing events that shared their read, and so their stamp, with an earlier one
	Reused    bool      `json:"reused,omitzero"`    // sent on a connection that was already open
	Replayed  int       `json:"replayed,omitzero"`  // times net/http sent it again on another connection
	Retries   int       `json:"retries,omitzero"`   // attempts after the first
	Protocol  string    `json:"protocol,omitzero"`
	Lag       Lag       `json:"lag,omitzero"`   // how late the chunks were read that the kernel stamped
	Clock     string    `json:"clock,omitzero"` // ClockKernel or ClockUser
	Warnings  []Warning `json:"warnings,omitzero"`
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

// FromSchedule is how much longer latencies are from the scheduled time than from
// the send, Sent - Scheduled; undefined in a closed loop.
func (s *Sample) FromSchedule() Opt[time.Duration] {
	if !s.Scheduled.OK {
		return Opt[time.Duration]{}
	}
	return Some(s.Sent - s.Scheduled.V)
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
// when n - n1 < 1 or all tokens came in one chunk.
func (s *Sample) TPOT() Opt[float64] {
	after := s.Streamed() - s.FirstTokens()
	if len(s.Chunks) < 2 || after < 1 {
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
