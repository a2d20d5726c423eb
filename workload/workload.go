// Package workload says what is asked: seeded sources of prompts. A source is a
// pure function of a key, so that neither the order of levels nor the timing of
// workers changes what a level is asked.
package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"kneesweep/load"
)

// Source makes prompts. Prompt must return the same prompt for the same key and
// be safe for concurrent use. The prompt's ID is set by the caller.
type Source interface {
	Prompt(k Key) load.Prompt
}

// Synthetic makes prompts of random common words. Each begins with a word of its
// own, made from its key: all prompts of a sweep differ from their first
// characters on, however short they are, so that no prefix cache can answer and
// no warm-up prompt is a measured one.
type Synthetic struct {
	InputTokens  int // prompt length aimed at
	OutputTokens int // longest answer
	Words        int // words per prompt, the first one included; 0 = one per token, until Calibrate knows better
	Seed         uint64
}

// Calibrate returns s with its number of words set so that prompts come close to
// InputTokens on a server that counted got tokens in a prompt of s. What it
// counts later is reported beside what was asked.
func (s Synthetic) Calibrate(got int) Synthetic {
	if got > 0 {
		words := float64(s.words()) * float64(s.InputTokens) / float64(got)
		s.Words = max(1, int(math.Round(words)))
	}
	return s
}

// words is the length of a prompt in words.
func (s Synthetic) words() int {
	if s.Words > 0 {
		return s.Words
	}
	return s.InputTokens
}

// Validate reports every problem of the source.
func (s Synthetic) Validate() error {
	var errs []error
	if s.InputTokens < 1 {
		errs = append(errs, fmt.Errorf("--input-tokens: %d, need at least 1", s.InputTokens))
	}
	if s.OutputTokens < 1 {
		errs = append(errs, fmt.Errorf("--output-tokens: %d, need at least 1", s.OutputTokens))
	}
	return errors.Join(errs...)
}

// Prompt returns the prompt of a key.
func (s Synthetic) Prompt(k Key) load.Prompt {
	rng := rand.New(rand.NewPCG(s.Seed, k.hash()))
	n := s.words()
	text := k.appendTag(make([]byte, 0, 32+8*n))
	for range n - 1 {
		text = append(append(text, ' '), words[rng.IntN(len(words))]...)
	}
	return load.Prompt{
		Messages:     []load.Message{{Role: "user", Content: string(text)}},
		InputTokens:  s.InputTokens,
		OutputTokens: s.OutputTokens,
	}
}

// words are common and short: one token each for most tokenizers.
var words = strings.Fields(`
time year people way day man thing woman life child world school state family student group country problem hand part
place case week company system program question work government number night point home water room mother area money
story fact month lot right study book eye job word business issue side kind head house service friend father power hour
game line end member law car city community name president team minute idea kid body information back parent face others
level office door health person art war history party result change morning reason research girl guy moment air teacher
force education foot boy age policy music market sense nation plan college interest death experience effect use class
control field development role effort rate heart drug show leader light voice wife police mind price report decision son
view relationship town road arm difference value building action season society tax director position player record paper
space ground form event official matter center couple site project activity star table need court oil situation cost
industry figure street image phone data picture practice piece land product doctor wall worker news test movie north love
`)

// Hash names the data set: two runs with the same hash ask the same prompts.
func (s Synthetic) Hash() string {
	h := sha256.New()
	fmt.Fprintf(h, "synthetic/v2 seed=%d words=%d output=%d\n%s", s.Seed, s.words(), s.OutputTokens, strings.Join(words, " "))
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:16])
}

// Describe says what is asked.
func (s Synthetic) Describe() load.RequestShape {
	return load.RequestShape{
		InputTokensAsked: s.InputTokens, OutputTokensAsked: s.OutputTokens, Source: "synthetic words",
		Cache: "every prompt of the sweep starts differently; another sweep with the same seed asks the same prompts",
	}
}

// Lengths returns what is asked for: all requests are alike.
func (s Synthetic) Lengths() (mean, most int) {
	return s.InputTokens + s.OutputTokens, s.InputTokens + s.OutputTokens
}
