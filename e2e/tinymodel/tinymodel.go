// Package tinymodel writes a language model that is small enough for a test and
// real enough for an inference server: a llama-architecture transformer with
// random weights and a byte-level vocabulary of its own, in the GGUF format
// (version 3).
//
// The text that it generates is nonsense; the work per token is that of any
// transformer. The default is 3.6 million parameters in 7 MB, about a
// millisecond a token on one core. Its end token is made so improbable that an
// answer runs to the length that was asked for, which makes measurements
// comparable.
//
//	Config ─▶ trainVocabulary(corpus.txt) ─▶ tokens, merges ─┐
//	   └────▶ layout (names, shapes, initial values) ────────┴▶ gguf ─▶ io.Writer
//
// The same Config always gives the same bytes. The package does not train
// weights, does not quantize and reads no GGUF.
package tinymodel

import (
	_ "embed" // for the corpus
	"errors"
	"fmt"
	"io"
)

//go:embed corpus.txt
var corpus string

// Config is the shape of a model. [Default] is a good start.
type Config struct {
	Name        string
	Layers      int
	Dim         int // embedding length, a multiple of 32 and of Heads
	FeedForward int // inner length of the feed-forward part, a multiple of 32
	Heads       int // attention heads, a multiple of KVHeads
	KVHeads     int // key/value heads; KVHeads·Dim/Heads is a multiple of 32
	Context     int // longest context, tokens
	Vocabulary  int // tokens wanted; fewer if the corpus has no more pairs to merge
	Seed        uint64

	// Spread is the standard deviation of the logits. The larger it is, the
	// fewer tokens share the probability.
	Spread float64
	// Penalty is what the logits of the end token, of the other control tokens
	// and of tokens that are not printable ASCII are lowered by.
	Penalty float64
}

// Default returns the model that the end-to-end test serves.
func Default() Config {
	return Config{
		Name: "tiny-random", Layers: 4, Dim: 256, FeedForward: 768, Heads: 8, KVHeads: 4,
		Context: 8192, Vocabulary: 1500, Seed: 1, Spread: 2.5, Penalty: 20,
	}
}

// smallestVocabulary is the 256 bytes and the control tokens.
const smallestVocabulary = 256 + numControls

// Validate reports everything that is wrong with c, joined.
func (c Config) Validate() error {
	var errs []error
	need := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("tinymodel: "+format, args...))
		}
	}
	need(c.Layers > 0, "%d layers, at least 1 is needed", c.Layers)
	need(c.Context > 0, "context of %d tokens, at least 1 is needed", c.Context)
	need(c.Dim > 0 && c.Dim%32 == 0, "dim %d is not a positive multiple of 32", c.Dim)
	need(c.FeedForward > 0 && c.FeedForward%32 == 0, "feed-forward length %d is not a positive multiple of 32", c.FeedForward)
	need(c.Vocabulary >= smallestVocabulary, "vocabulary of %d tokens, at least %d are needed", c.Vocabulary, smallestVocabulary)
	if c.Heads <= 0 || c.KVHeads <= 0 {
		need(false, "%d heads and %d key/value heads, both must be positive", c.Heads, c.KVHeads)
		return errors.Join(errs...)
	}
	need(c.Dim%c.Heads == 0, "dim %d is not a multiple of %d heads", c.Dim, c.Heads)
	need(c.Heads%c.KVHeads == 0, "%d heads are not a multiple of %d key/value heads", c.Heads, c.KVHeads)
	need(c.kvDim()%32 == 0, "key/value length %d is not a multiple of 32", c.kvDim())
	return errors.Join(errs...)
}

// headDim is the length of one attention head.
func (c Config) headDim() int { return c.Dim / c.Heads }

// kvDim is the length of all keys of one token.
func (c Config) kvDim() int { return c.headDim() * c.KVHeads }

// Info is what was written.
type Info struct {
	Tokens     int // vocabulary size
	Merges     int
	Tensors    int
	Parameters int64
	Bytes      int64
}

// Write writes the model to w. It makes many small writes into a buffer of its
// own and does not close w.
func Write(w io.Writer, c Config) (Info, error) {
	if err := c.Validate(); err != nil {
		return Info{}, err
	}
	voc := trainVocabulary(corpus, c.Vocabulary)
	ts := layout(c, voc)
	n, err := writeGGUF(w, metadata(c, voc), ts, c.Seed)
	if err != nil {
		return Info{}, fmt.Errorf("tinymodel: write %s: %w", c.Name, err)
	}
	info := Info{Tokens: len(voc.tokens), Merges: len(voc.merges), Tensors: len(ts), Bytes: n}
	for _, t := range ts {
		info.Parameters += int64(t.elements())
	}
	return info, nil
}
