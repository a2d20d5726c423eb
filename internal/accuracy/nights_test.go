//go:build accuracy

package accuracy_test

import (
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"kneesweep/analysis/regress"
	"kneesweep/internal/accuracy"
)

var nightsFrom = flag.Uint64("nights-from", 1, "first seed of the study of nights")

const (
	manyNights = 60
	nightSeeds = 100
)

// changes are the first nights of the new levels: −12 % in plateau, −25 % in the knee and
// −12 % in plateau again. A drift of −10 % lasts from night 16 to 45.
var changes = []int{47, 52, 57}

func changing() accuracy.Nights {
	n := unchanged()
	n.Speed = func(night int) float64 {
		drift := math.Pow(0.9, min(1, max(0, float64(night-15)/30)))
		steps := 1.0
		for _, at := range []int{changes[0], changes[2]} {
			if night >= at {
				steps *= 0.88
			}
		}
		return drift * steps
	}
	n.Knee = func(night int) float64 {
		if night >= changes[1] {
			return 0.75 * 24
		}
		return 24
	}
	return n
}

func unchanged() accuracy.Nights {
	return accuracy.Nights{
		Levels: []int{1, 2, 4, 8, 12, 16, 24, 32, 48, 64}, Rate: 100, Noise: 0.15, Nightly: 0.02, Windows: 10,
		Knee:  func(int) float64 { return 24 },
		Fails: func(night int) bool { return night == 9 || night == 28 || night == 50 },
	}
}

// outcome is what the nights of a seed were said to be.
type outcome struct {
	found   int // changes that were flagged on their night or the next
	alarms  int // other nights with an alarm
	drifted bool
}

func watched(n accuracy.Nights, seed uint64) (o outcome) {
	var nights []regress.Night
	var numbers []int
	for night := 1; night <= manyNights; night++ {
		c, ok := n.Run(night, seed*1000)
		if !ok {
			continue
		}
		nights, numbers = append(nights, regress.FromCurve(c)), append(numbers, night)
		r := regress.Watch(nights, regress.Options{}) // as it would be judged that night
		if r.Verdict == regress.Drifting && r.Drifts[0].PerDay < 0 {
			o.drifted = true
		}
	}
	flagged := map[int]bool{}
	for _, e := range regress.Watch(nights, regress.Options{}).Events {
		if !e.Worse {
			continue
		}
		night := numbers[e.Night]
		i := slices.IndexFunc(changes, func(at int) bool { return at == night || at == night-1 })
		if i >= 0 && !flagged[i] {
			flagged[i] = true
		} else {
			o.alarms++
		}
	}
	o.found = len(flagged)
	return o
}

// TestNights watches an endpoint for sixty nights.
func TestNights(t *testing.T) {
	for _, c := range []struct {
		name string
		n    accuracy.Nights
		good func(outcome) bool
		want int
	}{
		{"changes", changing(), func(o outcome) bool { return o.found == len(changes) && o.alarms <= 1 }, 90},
		{"none", unchanged(), func(o outcome) bool { return o.alarms+o.found <= 1 }, 95},
	} {
		t.Run(c.name, func(t *testing.T) {
			all := make([]outcome, nightSeeds)
			var wait sync.WaitGroup
			next := make(chan int)
			for range runtime.GOMAXPROCS(0) {
				wait.Go(func() {
					for i := range next {
						all[i] = watched(c.n, *nightsFrom+uint64(i))
					}
				})
			}
			for i := range all {
				next <- i
			}
			close(next)
			wait.Wait()
			good, drifted := 0, 0
			found, alarms := map[int]int{}, map[int]int{}
			for _, o := range all {
				good += count(c.good(o))
				drifted += count(o.drifted)
				found[o.found]++
				alarms[o.alarms]++
			}
			var b strings.Builder
			fmt.Fprintf(&b, "%d of %d seeds good; changes flagged in time %v; other alarms %v; drift told in %d", good, nightSeeds, found, alarms, drifted)
			t.Log(b.String())
			if good < c.want {
				t.Errorf("want %d", c.want)
			}
			if c.name == "changes" && drifted < c.want {
				t.Errorf("the drift was told in %d seeds, want %d", drifted, c.want)
			}
		})
	}
}
