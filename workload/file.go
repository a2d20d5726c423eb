package workload

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"path/filepath"

	"kneesweep/load"
)

// File asks the prompts of a file, as they stand there. About a tenth of the
// different prompts is set aside for warm-ups, so that no warm-up prompt is a
// measured one; with a single prompt that cannot be.
//
// Every level has its own order of the whole file. A visit asks no line twice
// before all were asked; the passes of a level begin as far apart as can be.
type File struct {
	OutputTokens int // longest answer to a line without max_tokens; 0 leaves it to the server

	name     string
	seed     uint64
	hash     string
	distinct int
	recorded int           // prompts whose limit is the length of a recorded answer
	leftOut  int           // bad lines
	bad      []error       // the first of them
	measured []load.Prompt // in seeded order; OutputTokens 0 = the line has no limit
	warmup   []load.Prompt
}

// Streams of the generator: the choice of warm-up prompts depends on the file
// alone, the order on the seed.
const (
	splitSeed   = 0x73706c6974
	orderStream = 0x6f72646572
)

// newFile shares the prompts of a file out.
func newFile(name string, seed uint64, hash string, prompts []load.Prompt) (*File, error) {
	group, n, err := groups(prompts)
	if err != nil {
		return nil, err
	}
	f := &File{name: name, seed: seed, hash: hash, distinct: n}
	// Groups of equal prompts stay together. With one group it serves for both.
	forWarmup := make([]bool, n)
	for _, g := range rand.New(rand.NewPCG(splitSeed, uint64(n))).Perm(n)[:max(1, n/10)] {
		forWarmup[g] = true
	}
	for i, p := range prompts {
		if forWarmup[group[i]] {
			f.warmup = append(f.warmup, p)
		} else {
			f.measured = append(f.measured, p)
		}
	}
	if n == 1 {
		f.measured = f.warmup
	}
	rng := rand.New(rand.NewPCG(seed, orderStream))
	for _, list := range [][]load.Prompt{f.measured, f.warmup} {
		rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return f, nil
}

// groups numbers the different prompts from 0 on, and returns that of each.
func groups(prompts []load.Prompt) (group []int, n int, err error) {
	seen := map[[sha256.Size]byte]int{}
	for _, p := range prompts {
		text, err := json.Marshal(p.Messages)
		if err != nil {
			return nil, 0, err
		}
		id := sha256.Sum256(text)
		if _, ok := seen[id]; !ok {
			seen[id] = len(seen)
		}
		group = append(group, seen[id])
	}
	return group, len(seen), nil
}

// Prompt returns the prompt of a key.
func (f *File) Prompt(k Key) load.Prompt {
	list := f.measured
	if k.Warmup {
		list = f.warmup
	}
	p := list[f.place(k, len(list))]
	p.OutputTokens = f.limit(p)
	return p
}

// limit is the longest answer to a prompt.
func (f *File) limit(p load.Prompt) int {
	if p.OutputTokens > 0 {
		return p.OutputTokens
	}
	return f.OutputTokens
}

// place is where in a list of n a key points. A level walks over the list with a
// step and from a start of its own; the step shares no divisor with n, so that it
// meets every place before it comes back. Pass 1 begins half a round after pass 0,
// passes 2 and 3 in the middle between them, and so on.
func (f *File) place(k Key, n int) int {
	rng := rand.New(rand.NewPCG(f.seed, Key{Concurrency: k.Concurrency, Warmup: k.Warmup}.hash()))
	start, step := rng.IntN(n), 1+rng.IntN(n)
	for gcd(step, n) != 1 {
		step = step%n + 1
	}
	begin := int(uint64(bits.Reverse32(uint32(k.Pass))) * uint64(n) >> 32)
	at := ((begin+k.Seq)%n + n) % n
	return (start + at*step) % n
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Validate reports a limit of answers that cannot be.
func (f *File) Validate() error {
	if f.OutputTokens < 1 {
		return fmt.Errorf("--output-tokens: %d, need at least 1", f.OutputTokens)
	}
	return nil
}

// Hash is that of the file's bytes, as sha256sum prints it.
func (f *File) Hash() string { return f.hash }

// Describe says what is asked. The length of the prompts is not known.
func (f *File) Describe() load.RequestShape {
	lo, hi := f.limits()
	s := load.RequestShape{Source: fmt.Sprintf("%s: %s", filepath.Base(f.name), counted(f.lines(), "prompt")), Cache: f.cache(), LeftOut: f.leftOut}
	if f.leftOut > 0 {
		s.Source += fmt.Sprintf(" (%s left out)", counted(f.leftOut, "bad line"))
	}
	if lo == hi {
		s.OutputTokensAsked = hi
	} else {
		s.Source += fmt.Sprintf(", answers of at most %d to %d tokens", lo, hi)
	}
	if f.recorded > 0 {
		s.Source += fmt.Sprintf(" (as long as the recorded ones for %s, at four bytes to a token)", counted(f.recorded, "prompt"))
	}
	return s
}

// cache says in words how often prompts repeat.
func (f *File) cache() string {
	if f.distinct == 1 {
		return "the file holds one prompt, and every request asks it, those of the warm-ups too: a prefix cache can answer"
	}
	s := fmt.Sprintf("prompts as they stand in the file, %s to measure and %s for warm-ups alone", counted(len(f.measured), "line"), counted(len(f.warmup), "line"))
	if f.distinct < f.lines() {
		s += fmt.Sprintf(" (%d different ones in all)", f.distinct)
	}
	return s + "; a visit of a level repeats a line once it has asked all, every level and pass asks the same lines again: a prefix cache can answer what repeats"
}

// lines is how many prompts the file holds.
func (f *File) lines() int {
	if f.distinct == 1 {
		return len(f.measured)
	}
	return len(f.measured) + len(f.warmup)
}

// limits are the smallest and the largest limit on an answer.
func (f *File) limits() (lo, hi int) {
	lo = math.MaxInt
	for _, list := range [][]load.Prompt{f.measured, f.warmup} {
		for _, p := range list {
			n := f.limit(p)
			lo, hi = min(lo, n), max(hi, n)
		}
	}
	return lo, hi
}

// BadLines returns how many lines were left out, and the first of them as errors
// that name file and line.
func (f *File) BadLines() (n int, first []error) { return f.leftOut, f.bad }

// LeastPrompt is 1: the length of the prompts is not known.
func (f *File) LeastPrompt() int { return 1 }

// Lengths estimates the prompts by their bytes; answers count with their limit.
func (f *File) Lengths() (mean, most int) {
	sum, count := 0, 0
	for _, list := range [][]load.Prompt{f.measured, f.warmup} {
		for _, p := range list {
			n := f.limit(p)
			for _, m := range p.Messages {
				n += estimate(m.Content)
			}
			sum, count, most = sum+n, count+1, max(most, n)
		}
	}
	return max(1, sum/count), most
}

// estimate counts four bytes to a token, which is about right for English.
func estimate(text string) int { return (len(text) + 3) / 4 }

// counted is a number of things.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
