// Package workload says what is asked: seeded sources of prompts. A source is a
// pure function of a key, so that neither the order of levels nor the timing of
// workers changes what a level is asked.
package workload

import "kneesweep/load"

// Source makes prompts. Prompt must return the same prompt for the same key and
// be safe for concurrent use. The prompt's ID is set by the caller.
type Source interface {
	Prompt(k Key) load.Prompt
}
