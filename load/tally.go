package load

import "time"

// Tally sums up the requests of a run, in any order. The zero Tally is empty.
type Tally struct {
	promptTokens, prompts int // as far as the server counted
	used                  Used
	first, last           time.Duration
}

// Add counts a request. A prompt that the server did not count has the length that
// was asked; a request in flight when the run ended has the chunks that had come.
func (t *Tally) Add(s *Sample, asked int) {
	prompt := asked
	if s.PromptTokens.OK {
		prompt = s.PromptTokens.V
		t.promptTokens += prompt
		t.prompts++
	}
	if t.used.Requests == 0 {
		t.first, t.last = s.Sent, s.End
	}
	t.first, t.last = min(t.first, s.Sent), max(t.last, s.End)
	t.used.Requests++
	t.used.InputTokens += prompt
	t.used.CachedTokens += min(s.CachedTokens.V, prompt)
	t.used.OutputTokens += max(s.OutputTokens, len(s.Chunks))
}

// PromptMean is the mean prompt as the server counted it.
func (t *Tally) PromptMean() Opt[float64] {
	if t.prompts == 0 {
		return Opt[float64]{}
	}
	return Some(float64(t.promptTokens) / float64(t.prompts))
}

// Used is what the requests took; nil without any.
func (t *Tally) Used() *Used {
	if t.used.Requests == 0 {
		return nil
	}
	u := t.used
	u.Seconds = (t.last - t.first).Seconds()
	return &u
}
