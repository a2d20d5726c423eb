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

// Synthetic makes prompts of random common words. Each begins with a word of its
// own, made from its key: all prompts of a sweep differ from their first
// characters on, however short they are, so that no prefix cache can answer and
// no warm-up prompt is a measured one. Only Prefix and Turns, which stand for
// traffic that a cache does answer, make prompts that begin alike.
type Synthetic struct {
	InputTokens  int     // prompt length aimed at
	OutputTokens int     // longest answer
	Input        Length  // drawn in place of InputTokens; nil = all alike. With Turns it is that of the user's message
	Output       Length  // drawn in place of OutputTokens; nil = all alike
	PerToken     float64 // words for each token of a prompt; 0 = one, until Calibrate knows better
	Prefix       Prefix
	Turns        int // requests of a conversation; up to 1 = every request stands alone
	Seed         uint64
}

// Streams of the generator: what is drawn of one kind does not move another.
const (
	inputStream  = 0x696e << 16
	outputStream = 0x6f7574 << 16
)

// Calibrate returns s with its words for each token set so that prompts come close
// to the length aimed at on a server that counted got tokens in the prompt of the
// key [Preflight]. What the server adds to every prompt counts as its words do, so
// with lengths that differ much the short ones come out shorter. What it counts
// later is reported beside what was asked.
func (s Synthetic) Calibrate(got int) Synthetic {
	if got > 0 {
		p := s.Prompt(Preflight)
		n := 0
		for _, m := range p.Messages {
			n += 1 + strings.Count(m.Content, " ")
		}
		s.PerToken = float64(n) / float64(got)
	}
	return s
}

// count is the number of words that stand for tokens.
func (s Synthetic) count(tokens int) int {
	if s.PerToken == 0 {
		return tokens
	}
	return max(1, int(math.Round(float64(tokens)*s.PerToken)))
}

func (s Synthetic) input() Length {
	if s.Input != nil {
		return s.Input
	}
	return Fixed(s.InputTokens)
}

func (s Synthetic) output() Length {
	if s.Output != nil {
		return s.Output
	}
	return Fixed(s.OutputTokens)
}

// Validate reports every problem of the source.
func (s Synthetic) Validate() error {
	var errs []error
	if least, _ := s.input().Range(); least < 1 {
		errs = append(errs, fmt.Errorf("--input-tokens: %d, need at least 1", least))
	}
	if least, _ := s.output().Range(); least < 1 {
		errs = append(errs, fmt.Errorf("--output-tokens: %d, need at least 1", least))
	}
	if s.Turns < 0 || s.Turns > maxTurns {
		errs = append(errs, fmt.Errorf("--turns: %d, need 1 to %d", s.Turns, maxTurns))
	}
	return errors.Join(append(errs, s.Prefix.validate())...)
}

// Prompt returns the prompt of a key.
func (s Synthetic) Prompt(k Key) load.Prompt {
	if s.Turns > 1 {
		return s.turn(k)
	}
	id := k.hash()
	in, out := s.lengths(id)
	text := s.opening(id, k.appendTag(make([]byte, 0, 32+8*s.count(s.Prefix.Tokens+in))))
	return load.Prompt{
		Messages:     []load.Message{{Role: "user", Content: string(s.appendWords(text, s.Seed, id, s.count(in)-1))}},
		InputTokens:  s.Prefix.Tokens + in,
		OutputTokens: out,
	}
}

// lengths draws those of a request.
func (s Synthetic) lengths(id uint64) (in, out int) {
	return s.input().draw(s.Seed, inputStream, id), s.output().draw(s.Seed, outputStream, id)
}

// appendWords appends n random words, each after a space.
func (s Synthetic) appendWords(text []byte, seed, id uint64, n int) []byte {
	rng := rand.New(rand.NewPCG(seed, id))
	for range n {
		text = append(append(text, ' '), words[rng.IntN(len(words))]...)
	}
	return text
}

// Hash names the data set: two runs with the same hash ask the same prompts.
func (s Synthetic) Hash() string {
	h := sha256.New()
	in, alike := s.input().(Fixed)
	out, ends := s.output().(Fixed)
	if alike && ends && s.Prefix == (Prefix{}) && s.Turns <= 1 {
		fmt.Fprintf(h, "synthetic/v2 seed=%d words=%d output=%d\n%s", s.Seed, s.count(int(in)), out, strings.Join(words, " "))
	} else {
		fmt.Fprintf(h, "synthetic/v3 seed=%d input=%v output=%v per token=%v prefix=%+v turns=%d\n%s",
			s.Seed, s.input(), s.output(), s.PerToken, s.Prefix, s.Turns, strings.Join(words, " "))
		for _, l := range []Length{s.Input, s.Output} {
			if r, ok := l.(*Rows); ok {
				fmt.Fprint(h, r.lengths)
			}
		}
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil)[:16])
}

// Describe says what is asked.
func (s Synthetic) Describe() load.RequestShape {
	d := load.RequestShape{Source: "synthetic words", Cache: s.cache()}
	if s.Turns > 1 {
		d.Source += fmt.Sprintf(", conversations of %d turns", s.Turns)
	}
	if s.Prefix.Tokens > 0 {
		d.Source += fmt.Sprintf(", after beginnings of %s", counted(s.Prefix.Tokens, "token"))
	}
	if alike, ok := s.input().(Fixed); ok && s.Turns <= 1 {
		d.InputTokensAsked = s.Prefix.Tokens + int(alike)
	} else {
		d.InputLengths = load.Lengths{Asked: s.inputText(), Mean: s.meanPrompt()}
		d.Source += ", input " + d.InputLengths.Asked
	}
	if alike, ok := s.output().(Fixed); ok {
		d.OutputTokensAsked = int(alike)
	} else {
		d.OutputLengths = load.Lengths{Asked: s.output().String(), Mean: s.output().Mean()}
		d.Source += ", output " + d.OutputLengths.Asked
	}
	return d
}

// inputText is how the length of prompts is asked for.
func (s Synthetic) inputText() string {
	text := s.input().String()
	if s.Prefix.Tokens > 0 {
		text = fmt.Sprintf("%d + %s", s.Prefix.Tokens, text)
	}
	if s.Turns > 1 {
		text += fmt.Sprintf(" in each of up to %d turns", s.Turns)
	}
	return text
}

// cache says in words what prompts do to a prefix cache.
func (s Synthetic) cache() string {
	const again = "another sweep with the same seed asks the same prompts"
	switch {
	case s.Turns > 1:
		return fmt.Sprintf("each request of a conversation begins with all of the one before it, and then goes on with an answer that we made up: a prefix cache can answer what was asked before; %s; %s", s.Prefix.describe("conversations"), again)
	case s.Prefix.Tokens > 0:
		return fmt.Sprintf("%s; %s", s.Prefix.describe("prompts"), again)
	}
	return "every prompt of the sweep starts differently; " + again
}

// meanPrompt is the expected length of a prompt: over the turns of a conversation,
// of which the one before the last holds all messages but two.
func (s Synthetic) meanPrompt() float64 {
	n := float64(max(1, s.Turns))
	return float64(s.Prefix.Tokens) + s.input().Mean()*(n+1)/2 + s.output().Mean()*(n-1)/2
}

// Lengths returns what is asked for, by the expected lengths and the longest.
func (s Synthetic) Lengths() (mean, most int) {
	_, in := s.input().Range()
	_, out := s.output().Range()
	n := max(1, s.Turns)
	return int(math.Round(s.meanPrompt() + s.output().Mean())), s.Prefix.Tokens + n*(in+out)
}

// LeastPrompt is the length of the shortest prompt.
func (s Synthetic) LeastPrompt() int {
	least, _ := s.input().Range()
	return s.Prefix.Tokens + least
}
