package analysis

import (
	"kneesweep/load"
)

// unevenShare is how far the shares of cached prompt tokens may lie apart, absolute,
// before two levels did not do the same work.
const unevenShare = 0.10

// unevenCache says whether a cache answered other shares of the prompts at some
// levels than at others: throughput then changes with the cache and not with the
// number of streams only. A level whose server tells nothing of a cache counts as one
// without.
func unevenCache(steps []load.Step) (load.Warning, bool) {
	var least, most *load.Step
	told := false
	for i := range steps {
		s := &steps[i]
		if !s.Valid || s.Imported {
			continue
		}
		told = told || s.CachedShare.OK
		if least == nil || s.CachedShare.V < least.CachedShare.V {
			least = s
		}
		if most == nil || s.CachedShare.V > most.CachedShare.V {
			most = s
		}
	}
	if !told || most.CachedShare.V-least.CachedShare.V <= unevenShare {
		return load.Warning{}, false
	}
	return load.Warnf(load.WarnUnevenCache, "caches answered %.0f %% of the prompt tokens at N = %d and %.0f %% at N = %d: the levels are not the same work, and the knee may be that of the cache",
		100*least.CachedShare.V, least.Concurrency, 100*most.CachedShare.V, most.Concurrency), true
}
