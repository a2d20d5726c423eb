// Package workload says what is asked: seeded sources of prompts. A source is a
// pure function of a key, so that neither the order of levels nor the timing of
// workers changes what a level is asked.
package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"kneesweep/load"
)

// Key names one prompt of a sweep.
type Key struct {
	Concurrency int
	Pass        int
	Warmup      bool
	Seq         int // counted from 0 within level, pass and warm-up
}

// Source makes prompts. Prompt must return the same prompt for the same key and
// be safe for concurrent use. The prompt's ID is set by the caller.
type Source interface {
	Prompt(k Key) load.Prompt
}

// Synthetic makes prompts of random common words: every prompt starts
// differently, so that no prefix cache can answer, and warm-up prompts are
// never measured ones.
type Synthetic struct {
	InputTokens  int // prompt length aimed at
	OutputTokens int // longest answer
	Words        int // words per prompt; 0 = one per token, until Calibrate knows better
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
	var b strings.Builder
	n := s.words()
	b.Grow(6 * n)
	for i := range n {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(words[rng.IntN(len(words))])
	}
	return load.Prompt{
		Messages:     []load.Message{{Role: "user", Content: b.String()}},
		InputTokens:  s.InputTokens,
		OutputTokens: s.OutputTokens,
	}
}

// hash spreads a key over the streams of the generator.
func (k Key) hash() uint64 {
	var b [25]byte
	binary.LittleEndian.PutUint64(b[0:], uint64(k.Concurrency))
	binary.LittleEndian.PutUint64(b[8:], uint64(k.Pass))
	binary.LittleEndian.PutUint64(b[16:], uint64(k.Seq))
	if k.Warmup {
		b[24] = 1
	}
	h := fnv.New64a()
	_, _ = h.Write(b[:])
	return h.Sum64()
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
	fmt.Fprintf(h, "synthetic/v1 seed=%d words=%d output=%d\n%s", s.Seed, s.words(), s.OutputTokens, strings.Join(words, " "))
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:16])
}
