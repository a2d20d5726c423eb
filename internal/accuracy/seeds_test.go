//go:build accuracy

package accuracy_test

import (
	"fmt"
	"testing"
)

// eachSeed runs f for the seeds 1 to count, as many at once as there are cores.
func eachSeed(t *testing.T, name string, count uint64, f func(t *testing.T, seed uint64)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		for seed := uint64(1); seed <= count; seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				f(t, seed)
			})
		}
	})
}
