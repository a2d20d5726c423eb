package workload

import "kneesweep/load"

// Prompts is a Source that can also say what it asks, for the record of a run.
type Prompts interface {
	Source

	// Validate reports every problem, naming the flag to change.
	Validate() error

	// Hash names the data set.
	Hash() string

	// Describe fills in what the prompts decide of a request's shape: the lengths
	// asked for (0 = not known, or not the same for all), where the prompts come
	// from and what they do to a prefix cache.
	Describe() load.RequestShape

	// Lengths returns the prompt and answer tokens of a request taken together:
	// on average, and of the longest. They may be estimates.
	Lengths() (mean, most int)

	// LeastPrompt returns the tokens of the shortest prompt, at least 1: what a
	// request costs whatever a server counts. It may be an estimate.
	LeastPrompt() int
}

var (
	_ Prompts = Synthetic{}
	_ Prompts = (*File)(nil)
)
