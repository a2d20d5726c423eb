package workload

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"kneesweep/load"
)

// Cold lets every request begin with a word that no request had before, in this run or
// in another one, whatever the prompts below share: a prefix cache answers none of
// them. The word costs a few tokens, which calibration counts.
type Cold struct {
	Prompts
	Run string // tells this run from all others; one word
}

// Warm asks few prompts, and each of them again and again: once they were sent
// ([Warm.Fill]), a prefix cache that holds them all answers every request. The same
// prompts serve all levels, warm-ups included.
type Warm struct{ Prompts }

// WarmPrompts is how many different prompts Warm asks.
const WarmPrompts = 32

var (
	_ Prompts = Cold{}
	_ Prompts = Warm{}
)

// Prompt returns the prompt of a key, behind a word made from the key and the run.
func (c Cold) Prompt(k Key) load.Prompt {
	p := c.Prompts.Prompt(k)
	p.Messages = slices.Clone(p.Messages) // those of a file are shared
	first := string(k.appendTag(nil)) + "-" + c.Run + " "
	p.Messages[0].Content = first + p.Messages[0].Content
	return p
}

// Describe says what is asked.
func (c Cold) Describe() load.RequestShape {
	d := c.Prompts.Describe()
	d.CacheMode, d.Cache = load.CacheCold, "cold: every request begins with a word that none had before, in this run or another"
	return d
}

// Prompt returns one of the few prompts. One after the other has its turn within a
// visit, so that all levels have the same mixture of lengths.
func (w Warm) Prompt(k Key) load.Prompt {
	if k == Preflight {
		return w.Prompts.Prompt(k)
	}
	visit := Key{Concurrency: k.Concurrency, Pass: k.Pass, Warmup: k.Warmup}
	return w.Prompts.Prompt(warmKey((uint64(k.Seq) + visit.hash()%WarmPrompts) % WarmPrompts))
}

// warmKey is the key of one of the prompts, which no measured request has.
func warmKey(i uint64) Key { return Key{Warmup: true, Seq: int(i)} }

// Fill returns the prompts, to be sent before the first level, for answers of one token.
func (w Warm) Fill() []load.Prompt {
	all := make([]load.Prompt, WarmPrompts)
	for i := range all {
		all[i] = w.Prompts.Prompt(warmKey(uint64(i)))
		all[i].OutputTokens = 1
	}
	return all
}

// Describe says what is asked.
func (w Warm) Describe() load.RequestShape {
	d := w.Prompts.Describe()
	d.CacheMode, d.Cache = load.CacheWarm, fmt.Sprintf("warm: %d prompts in turn, each sent once before the first level", WarmPrompts)
	return d
}

// Hash names the data set.
func (w Warm) Hash() string {
	h := sha256.Sum256(fmt.Appendf(nil, "warm/v1 %d %s", WarmPrompts, w.Prompts.Hash()))
	return "sha256:" + hex.EncodeToString(h[:16])
}
