package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// maxLength is the longest that a drawn prompt or answer may be, in tokens.
const maxLength = 10_000_000

// Length is a number of tokens, at least 1: always the same, or drawn anew for
// each request. What is drawn depends on the request alone.
type Length interface {
	// Mean is the expected number of tokens.
	Mean() float64
	// Range returns the least and the most that can be drawn.
	Range() (least, most int)
	// String is how it is asked for, such as 512 or uniform:100:900.
	String() string

	// draw returns the length of a request. Salt tells prompts and answers apart.
	draw(seed, salt, request uint64) int
}

// Fixed is a length that is always the same.
type Fixed int

// Mean is the length itself.
func (f Fixed) Mean() float64 { return float64(f) }

// Range is the length itself, twice.
func (f Fixed) Range() (least, most int) { return int(f), int(f) }

func (f Fixed) String() string                { return strconv.Itoa(int(f)) }
func (f Fixed) draw(_, _, _ uint64) int       { return int(f) }
func drawing(seed, request uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, request)) }

// Uniform takes every length from From to To equally often, both included.
type Uniform struct{ From, To int }

// Mean is the middle.
func (u Uniform) Mean() float64 { return (float64(u.From) + float64(u.To)) / 2 }

// Range returns the ends.
func (u Uniform) Range() (least, most int) { return u.From, u.To }

func (u Uniform) String() string { return fmt.Sprintf("uniform:%d:%d", u.From, u.To) }

func (u Uniform) draw(seed, salt, request uint64) int {
	return u.From + drawing(seed^salt, request).IntN(u.To-u.From+1)
}

// Normal is a normal distribution around Center, or with Log the lognormal one
// whose median is Center, where Sigma is the standard deviation of the logarithm.
// It is cut off below 1 token and beyond four standard deviations: what falls
// there is drawn again.
type Normal struct {
	Center, Sigma float64
	Log           bool
}

// tail is where both tails are cut off, in standard deviations.
const tail = 4

func (n Normal) String() string {
	name := "normal"
	if n.Log {
		name = "lognormal"
	}
	return fmt.Sprintf("%s:%s:%s", name, strconv.FormatFloat(n.Center, 'f', -1, 64), strconv.FormatFloat(n.Sigma, 'f', -1, 64))
}

// tokens is the length at z standard deviations, not rounded.
func (n Normal) tokens(z float64) float64 {
	if n.Log {
		return n.Center * math.Exp(n.Sigma*z)
	}
	return n.Center + n.Sigma*z
}

// least is the lower end in standard deviations: what rounds to less than 1 token
// lies below it. Center is at least 1, so it is negative.
func (n Normal) least() float64 {
	z := (0.5 - n.Center) / n.Sigma
	if n.Log {
		z = math.Log(0.5/n.Center) / n.Sigma
	}
	return max(-tail, z)
}

// Mean is that of the distribution with its tails cut off:
// Center + Sigma·(φ(a)−φ(b))/(Φ(b)−Φ(a)), and with Log
// Center·exp(Sigma²/2)·(Φ(b−Sigma)−Φ(a−Sigma))/(Φ(b)−Φ(a)).
func (n Normal) Mean() float64 {
	a, b := n.least(), float64(tail)
	inside := phi(b) - phi(a)
	if n.Log {
		return n.Center * math.Exp(n.Sigma*n.Sigma/2) * (phi(b-n.Sigma) - phi(a-n.Sigma)) / inside
	}
	density := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	return n.Center + n.Sigma*(density(a)-density(b))/inside
}

// phi is the standard normal distribution function.
func phi(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// Range returns where the tails are cut off.
func (n Normal) Range() (least, most int) {
	return n.rounded(n.least()), n.rounded(tail)
}

func (n Normal) rounded(z float64) int { return max(1, int(math.Round(n.tokens(z)))) }

func (n Normal) draw(seed, salt, request uint64) int {
	rng := drawing(seed^salt, request)
	for {
		if z := rng.NormFloat64(); z >= n.least() && z <= tail {
			return n.rounded(z)
		}
	}
}

// Rows takes the lengths of the rows of a file, each row equally often. Two of the
// same file draw the same row for a request, so that a long prompt keeps its answer.
type Rows struct {
	name    string
	lengths []int
	mean    float64
	least   int
	most    int
}

// newRows keeps lengths, which must not be empty and are all at least 1.
func newRows(name string, lengths []int) *Rows {
	r := &Rows{name: name, lengths: lengths, least: lengths[0], most: lengths[0]}
	sum := 0.0
	for _, n := range lengths {
		sum += float64(n)
		r.least, r.most = min(r.least, n), max(r.most, n)
	}
	r.mean = sum / float64(len(lengths))
	return r
}

// Mean is that of the rows.
func (r *Rows) Mean() float64 { return r.mean }

// Range returns the shortest and the longest row.
func (r *Rows) Range() (least, most int) { return r.least, r.most }

func (r *Rows) String() string { return "file:" + r.name }

// rowStream makes draws of a row depend on the request alone.
const rowStream = 0x726f77

func (r *Rows) draw(seed, _, request uint64) int {
	return r.lengths[drawing(seed^rowStream, request).IntN(len(r.lengths))]
}

// lengthForms shows what a length may be.
const lengthForms = "give a number such as 512, uniform:100:900, normal:512:100 (mean and standard deviation), lognormal:512:0.5 (median and sigma), or file:lengths.csv"

// ParseLength reads a length as [Length.String] writes it; the files of file:NAME
// are read by [ReadTrace].
func ParseLength(s string) (Length, error) {
	kind, rest, drawn := strings.Cut(strings.TrimSpace(s), ":")
	if !drawn {
		n, err := strconv.Atoi(kind)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%.40q is not a length; %s", s, lengthForms)
		case n < 1:
			return nil, fmt.Errorf("%d, need at least 1", n)
		}
		return Fixed(n), checkLongest(s, float64(n))
	}
	var a, b float64
	parameters := strings.Split(rest, ":")
	if len(parameters) != 2 || !number(parameters[0], &a) || !number(parameters[1], &b) {
		return nil, fmt.Errorf("%.40q is not a length; %s", s, lengthForms)
	}
	switch kind {
	case "uniform":
		switch {
		case a != math.Trunc(a) || b != math.Trunc(b) || a < 1 || b < a:
			return nil, fmt.Errorf("%.40q: need two whole numbers of at least 1, the smaller first", s)
		case b > maxLength:
			return nil, checkLongest(s, b)
		}
		return Uniform{int(a), int(b)}, nil
	case "normal", "lognormal":
		n := Normal{a, b, kind == "lognormal"}
		switch {
		case a < 1:
			return nil, fmt.Errorf("%.40q: the first number is in tokens, need at least 1", s)
		case b <= 0:
			return nil, fmt.Errorf("%.40q: the second number is a spread, need more than 0; without one, give the first number alone", s)
		}
		return n, checkLongest(s, n.tokens(tail))
	}
	return nil, fmt.Errorf("%.40q is not a length; %s", s, lengthForms)
}

// checkLongest refuses lengths that nobody means.
func checkLongest(s string, most float64) error {
	if most > maxLength {
		return fmt.Errorf("%.40q draws up to %.3g tokens, at most %d can be asked", s, most, maxLength)
	}
	return nil
}

// number reads a finite number.
func number(s string, v *float64) bool {
	var err error
	*v, err = strconv.ParseFloat(strings.TrimSpace(s), 64)
	return err == nil && !math.IsInf(*v, 0) && !math.IsNaN(*v)
}
