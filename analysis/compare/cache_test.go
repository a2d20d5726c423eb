package compare

import (
	"slices"
	"testing"

	"kneesweep/load"
)

// A warm cache that moves the knee by 30 % is never compared silently with a cold
// one: prompts meant to meet a cache are other work, and where only the answers tell,
// the shares do.
func TestColdAndWarmCache(t *testing.T) {
	cold, warm := sweep(1, 1, 20, 0.02), sweep(2, 1, 26, 0.02)
	for i := range cold.Curve.Steps {
		cold.Curve.Steps[i].CachedShare, warm.Curve.Steps[i].CachedShare = load.Some(0.01), load.Some(0.6)
	}
	c := Runs([]Run{cold}, warm, Options{})
	if k := c.Knee; !k.By.OK || k.By.V.Value < 4 {
		t.Fatalf("the knee moved by %+v, which is no case for this test", k)
	}
	said := func(c Comparison) bool {
		return slices.ContainsFunc(c.Warnings, func(w load.Warning) bool { return w.Code == WarnWork })
	}
	if !said(c) {
		t.Errorf("nothing is said of the cache: %+v", c.Warnings)
	}
	for i := range cold.Curve.Steps {
		cold.Curve.Steps[i].CachedShare = load.Opt[float64]{} // a server that tells nothing
	}
	if !said(Runs([]Run{cold}, warm, Options{})) {
		t.Error("nothing is said where one server does not tell")
	}
	cold.Curve.Run.Request.Cache, warm.Curve.Run.Request.Cache = "every prompt begins with a word of its own", "all begin alike"
	if !Runs([]Run{cold}, warm, Options{}).Forced() {
		t.Error("prompts that meet a cache are compared with prompts that meet none")
	}
}
