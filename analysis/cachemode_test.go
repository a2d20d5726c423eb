package analysis

import (
	"strings"
	"testing"

	"kneesweep/load"
)

// A cache that did not do what was asked for is said, one that cannot be seen too.
func TestOtherCache(t *testing.T) {
	level := func(n int, share float64) load.Step {
		return load.Step{Concurrency: n, Valid: true, CachedShare: load.Some(share)}
	}
	untold := load.Step{Concurrency: 4, Valid: true}
	invalid := level(8, 0.9)
	invalid.Valid = false
	for _, c := range []struct {
		mode  string
		steps []load.Step
		want  string // "" = no warning
	}{
		{load.CacheNatural, []load.Step{level(1, 0.9)}, ""},
		{"", []load.Step{level(1, 0)}, ""},
		{load.CacheCold, []load.Step{level(1, 0.02), untold, invalid}, ""},
		{load.CacheCold, []load.Step{level(1, 0), level(2, 0.3)}, "caches answered 30 % at N = 2 of the prompt tokens"},
		{load.CacheWarm, []load.Step{level(1, 0.9), level(2, 0.5)}, ""},
		{load.CacheWarm, []load.Step{level(1, 0.9), level(2, 0.4)}, "caches answered only 40 % at N = 2 of"},
		{load.CacheWarm, []load.Step{untold}, "whether one answered is not known"},
		{load.CacheWarm, nil, ""},
	} {
		w, ok := otherCache(load.Run{Request: load.RequestShape{CacheMode: c.mode}}, c.steps)
		if ok != (c.want != "") || !strings.Contains(w.Text, c.want) || ok && w.Code != load.WarnCacheMode {
			t.Errorf("%s with %d levels: %v %v", c.mode, len(c.steps), ok, w)
		}
	}
}
