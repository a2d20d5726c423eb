// Package claims holds published figures against measured curves.
//
//	claims ─ among themselves ─▶ contradictions
//	       ─ with a curve ─────▶ confirmed, refuted, or not comparable
//	curves of 1…k GPUs ────────▶ speed-up and scaling efficiency
//
// A published figure means something only with its request shape, its concurrency
// and its hardware: what is not stated must be assumed aloud, or there is no
// verdict. All functions are pure and safe for concurrent use.
package claims

import (
	"kneesweep/analysis"
	"kneesweep/load"
)

// Kind is what a claim is about.
type Kind string

// The kinds. The rate of a stream counts its waiting: N streams that share X
// tokens/s have X/N each, and take 10⁶·N/X ms for 1,000 tokens.
const (
	Throughput Kind = "output tokens/s"      // of all streams together
	Stream     Kind = "ms per 1,000 tokens"  // of one stream
	TTFT       Kind = "ms to first token"    // a percentile over requests
	SpeedUp    Kind = "times the throughput" // of so many GPUs, against one
)

// Any is the condition that is left open: for streams the level that suits the claim
// best, for lengths whatever was measured.
const Any = -1

// Conditions are those under which a figure was published, or is assumed to have
// been. A zero is not stated.
type Conditions struct {
	GPUs         int
	Streams      int // N, or Any
	InputTokens  int // of a prompt, or Any
	OutputTokens int // of an answer, or Any
}

// Claim is one published figure.
type Claim struct {
	Name       string
	Kind       Kind
	Value      float64 // in the unit that the kind names
	Percentile int     // of TTFT: 50, 90, 95 or 99
	Conditions Conditions
	Tolerance  float64 // a fraction; 0 = that of the file
	Hardware   string  // as it was published; not checked
	Source     string
	Line       int // in its file
}

// File is a set of claims.
type File struct {
	Name      string
	Claims    []Claim
	Assume    Conditions // takes the place of what a claim does not state
	Tolerance float64    // a fraction: how far a figure may be from the claim and still be as claimed
}

// DefaultTolerance is that of a file which gives none.
const DefaultTolerance = 0.05

// tolerance of one claim.
func (f File) tolerance(c Claim) float64 {
	switch {
	case c.Tolerance > 0:
		return c.Tolerance
	case f.Tolerance > 0:
		return f.Tolerance
	}
	return DefaultTolerance
}

// Run is a measured curve.
type Run struct {
	Name  string
	GPUs  int
	Curve analysis.Curve
	Data  *analysis.Data // its single requests; nil if they are not known
}

// Verdict is what became of a claim.
type Verdict string

// The verdicts.
const (
	Confirmed     Verdict = "confirmed"
	Refuted       Verdict = "refuted"
	NotComparable Verdict = "not_comparable"
)

// Finding is a claim with its verdict.
type Finding struct {
	Claim    Claim
	Verdict  Verdict
	Measured load.Opt[load.Estimate] // in the unit of the claim; a bound that is not known is NaN
	Run      string                  // where it was measured; empty = nowhere
	Streams  load.Opt[int]           // at which level
	Assumed  []string                // conditions that the claim does not state, in words
	Reason   string
}

// Result is what comes of a file and some runs.
type Result struct {
	File           File
	Findings       []Finding // in the order of the claims
	Contradictions []Contradiction
	Scaling        []Scale // ascending in GPUs; empty unless there are runs of several numbers
}

// Count is the number of findings of a verdict.
func (r Result) Count(v Verdict) int {
	n := 0
	for _, f := range r.Findings {
		if f.Verdict == v {
			n++
		}
	}
	return n
}

// Check holds the claims of a file against each other and against runs.
func Check(f File, runs []Run) Result {
	r := Result{File: f, Contradictions: contradictions(f), Scaling: Scaling(runs)}
	for _, c := range f.Claims {
		r.Findings = append(r.Findings, f.check(c, runs))
	}
	return r
}
