package analysis

import (
	"fmt"
	"strings"

	"kneesweep/load"
)

// unevenShare is how far the shares of cached prompt tokens may lie apart, absolute,
// before two levels did not do the same work.
const unevenShare = 0.10

// mostCold and leastWarm are the shares of cached prompt tokens beyond which a cache
// did not do what was asked for.
const (
	mostCold  = 0.10
	leastWarm = 0.50
)

// otherCache says whether a cache answered although it was to be cold, or did not
// although it was to be warm.
func otherCache(run load.Run, steps []load.Step) (load.Warning, bool) {
	mode := run.Request.CacheMode
	if mode != load.CacheCold && mode != load.CacheWarm {
		return load.Warning{}, false
	}
	told := false
	var wrong []string
	for i := range steps {
		s := &steps[i]
		if !s.Valid || s.Imported {
			continue
		}
		told = told || s.CachedShare.OK
		if share := s.CachedShare.V; mode == load.CacheCold && share > mostCold || mode == load.CacheWarm && share < leastWarm {
			wrong = append(wrong, fmt.Sprintf("%.0f %% at N = %d", 100*share, s.Concurrency))
		}
	}
	switch {
	case len(wrong) == 0:
		return load.Warning{}, false
	case !told:
		return load.Warnf(load.WarnCacheMode, "prompts were sent before (--cache warm), but the server tells nothing of a cache: whether one answered is not known"), true
	case mode == load.CacheWarm:
		return load.Warnf(load.WarnCacheMode, "prompts were sent before (--cache warm), but caches answered only %s of the prompt tokens", strings.Join(wrong, ", ")), true
	}
	return load.Warnf(load.WarnCacheMode, "no prompt began as another did (--cache cold), but caches answered %s of the prompt tokens", strings.Join(wrong, ", ")), true
}

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
