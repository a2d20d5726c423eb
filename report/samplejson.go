package report

import (
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"kneesweep/load"
)

// sampleJSON is one timed request.
type sampleJSON struct {
	Schema       string           `json:"schema"`
	Outcome      string           `json:"outcome"`
	Cause        load.Opt[string] `json:"cause"`
	Status       load.Opt[int]    `json:"status"`
	Error        load.Opt[string] `json:"error"`
	RetryAfterMS number           `json:"retry_after_ms"`

	OutputTokens    int              `json:"output_tokens"`
	TokenSource     load.Opt[string] `json:"token_source"`
	PromptTokens    load.Opt[int]    `json:"prompt_tokens"`
	CachedTokens    load.Opt[int]    `json:"cached_tokens"`
	ReasoningTokens load.Opt[int]    `json:"reasoning_tokens"`
	HiddenTokens    load.Opt[int]    `json:"hidden_tokens"`
	FinishReason    load.Opt[string] `json:"finish_reason"`
	Model           load.Opt[string] `json:"model"`
	Fingerprint     load.Opt[string] `json:"fingerprint"`
	Headers         []string         `json:"headers"`
	Text            string           `json:"text"`

	ConnectMS   number `json:"connect_ms"`
	TTFTMS      number `json:"ttft_ms"`
	TTFCMS      number `json:"ttfc_ms"`
	TPOTMS      number `json:"tpot_ms"`
	ITLMeanMS   number `json:"itl_mean_ms"`
	ICLMeanMS   number `json:"icl_mean_ms"`
	LastTokenMS number `json:"last_token_ms"`
	E2EMS       number `json:"e2e_ms"`

	Chunks    int              `json:"chunks"`
	Malformed int              `json:"malformed_frames"`
	Coalesced int              `json:"coalesced_chunks"`
	Reused    bool             `json:"reused"`
	Replayed  int              `json:"replayed"`
	Retries   int              `json:"retries"`
	Protocol  load.Opt[string] `json:"protocol"`
	Clock     load.Opt[string] `json:"clock"`
	Warnings  []load.Warning   `json:"warnings"`
}

// errorBytes bounds the error text of a sample.
const errorBytes = 200

// SampleJSON writes s as one strict JSON document of [SampleSchema]. Times are
// milliseconds counted from the moment of sending; what is undefined is null.
// Its errors are those of w.
func SampleJSON(w io.Writer, s load.Sample) error {
	b, err := document(sampleOf(&s))
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func sampleOf(s *load.Sample) sampleJSON {
	j := sampleJSON{
		Schema: SampleSchema, Outcome: "ok", Cause: text(s.Cause), Status: positive(s.Status),
		Error: text(cut(s.Error, errorBytes)), RetryAfterMS: millisOpt(s.RetryAfter),
		OutputTokens: s.OutputTokens, TokenSource: text(s.TokenSource), PromptTokens: s.PromptTokens,
		CachedTokens: s.CachedTokens, ReasoningTokens: s.ReasoningTokens,
		HiddenTokens: load.Opt[int]{V: s.HiddenTokens, OK: s.HiddenTokens > 0 || s.ReasoningTokens.OK},
		FinishReason: text(s.FinishReason), Model: text(s.Model), Fingerprint: text(s.Fingerprint), Headers: list(s.Headers), Text: s.Text,
		TTFTMS: millisOpt(s.TTFT()), TTFCMS: millisOpt(s.TTFC()), ITLMeanMS: itlMean(s), ICLMeanMS: iclMean(s),
		E2EMS: millisOf(s.E2E()), Chunks: len(s.Chunks), Malformed: s.Malformed, Coalesced: s.Coalesced,
		Reused: s.Reused, Replayed: s.Replayed, Retries: s.Retries,
		Protocol: text(s.Protocol), Clock: text(s.Clock), Warnings: list(s.Warnings),
	}
	if s.Failed() {
		j.Outcome = "failed"
	}
	if s.Dialled {
		j.ConnectMS = millisOf(s.Connect)
	}
	if t := s.TPOT(); t.OK {
		j.TPOTMS = millis(t.V)
	}
	if last := s.LastToken(); last.OK {
		j.LastTokenMS = millisOf(last.V - s.Sent)
	}
	return j
}

// itlMean is the mean gap between token arrivals: a chunk of w tokens that comes
// after a gap counts as w gaps of gap/w, so the mean is the time from the first
// to the last chunk over the tokens that came after the first chunk.
func itlMean(s *load.Sample) number {
	span, ok := chunkSpan(s)
	if !ok || s.Streamed() < 2 {
		return number{}
	}
	tokens := 0.0
	if s.Incremental() {
		for _, c := range s.Chunks[1:] {
			tokens += float64(c.Tokens)
		}
	} else {
		tokens = s.TokensPerChunk().V * float64(len(s.Chunks)-1)
	}
	if tokens <= 0 {
		return number{}
	}
	return millis(span.Seconds() / tokens)
}

// iclMean is the mean gap between token-bearing chunks.
func iclMean(s *load.Sample) number {
	span, ok := chunkSpan(s)
	if !ok {
		return number{}
	}
	return millis(span.Seconds() / float64(len(s.Chunks)-1))
}

// chunkSpan is the time from the first to the last chunk; false with fewer than two.
func chunkSpan(s *load.Sample) (time.Duration, bool) {
	if len(s.Chunks) < 2 {
		return 0, false
	}
	return s.Chunks[len(s.Chunks)-1].At - s.Chunks[0].At, true
}

// cut shortens s to at most n bytes of valid UTF-8.
func cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
