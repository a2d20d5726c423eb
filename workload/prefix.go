package workload

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Prefix makes a share of the prompts begin with one of a few common texts, as
// system prompts and few-shot examples do. It comes before the prompt's own
// length. The other prompts begin with a text of the same length of their own, so
// that hits and misses differ in nothing else.
type Prefix struct {
	Tokens int     // length of the beginning; 0 = none
	Hit    float64 // share of the prompts with a common one, 0…1
}

const (
	commonPrefixes = 4 // different common beginnings
	maxPrefix      = 1_000_000

	hitStream    = 0x686974 << 16
	commonStream = 0x636f6d << 16
	ownStream    = 0x6f776e << 16
)

func (p Prefix) validate() error {
	var errs []error
	if p.Tokens < 0 || p.Tokens > maxPrefix {
		errs = append(errs, fmt.Errorf("--shared-prefix: %d, need 0 to %d", p.Tokens, maxPrefix))
	}
	if !(p.Hit >= 0 && p.Hit <= 1) {
		errs = append(errs, fmt.Errorf("--prefix-hit: %v, need 0 to 1", p.Hit))
	}
	return errors.Join(errs...)
}

// describe says what the beginnings of things do to a prefix cache.
func (p Prefix) describe(things string) string {
	share := strconv.FormatFloat(math.Round(1000*p.Hit)/10, 'f', -1, 64)
	switch {
	case p.Tokens == 0 || p.Hit == 0:
		return "all " + things + " start differently"
	case p.Hit == 1:
		return fmt.Sprintf("all %s begin with one of %d common prefixes of %s, those of the warm-ups too", things, commonPrefixes, counted(p.Tokens, "token"))
	}
	return fmt.Sprintf("%s %% of the %s, drawn by the seed, begin with one of %d common prefixes of %s, those of the warm-ups too; the others start differently",
		share, things, commonPrefixes, counted(p.Tokens, "token"))
}

// opening is what a prompt begins with, up to its own first word, the tag. No two
// tags are equal, and none is the first word of a common beginning.
func (s Synthetic) opening(id uint64, tag []byte) []byte {
	n := s.count(s.Prefix.Tokens)
	if s.Prefix.Tokens == 0 {
		return tag
	}
	rng := drawing(s.Seed^hitStream, id)
	if rng.Float64() >= s.Prefix.Hit {
		return s.appendWords(tag, s.Seed^ownStream, id, n)
	}
	which := rng.Uint64N(commonPrefixes)
	text := strconv.AppendUint([]byte("common"), which, 10)
	text = s.appendWords(text, s.Seed^commonStream, which, n-1)
	return append(append(text, ' '), tag...)
}
