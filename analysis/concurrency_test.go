package analysis

import (
	"math/rand/v2"
	"testing"
	"time"

	"kneesweep/load"
)

// naive counts spans at every whole millisecond: the sweep line without the line.
func naive(spans, windows []load.Span) (at map[int]int, peaks []int, total int) {
	at = map[int]int{}
	for _, w := range windows {
		peak := 0
		for t := w.From; t < w.To; t += ms {
			n := 0
			for _, s := range spans {
				if s.Holds(t) {
					n++
				}
			}
			at[n]++
			total++
			peak = max(peak, n)
		}
		peaks = append(peaks, peak)
	}
	return at, peaks, total
}

// The sweep line agrees with counting at every millisecond.
func TestOccupancyAgainstCounting(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		v := visit(0, 1, 0, rng.IntN(50), 10+rng.IntN(40), 1+rng.IntN(5))
		var spans []load.Span
		for range rng.IntN(30) {
			from := time.Duration(rng.IntN(250)) * ms
			spans = append(spans, load.Span{From: from, To: from + time.Duration(rng.IntN(80))*ms})
		}
		var o occupancy
		o.add(spans, v.Windows)
		at, peaks, total := naive(spans, v.Windows)
		if o.total != time.Duration(total)*ms {
			t.Fatalf("total %v, want %d ms", o.total, total)
		}
		peak, mode, below, p90 := 0, 0, 0, -1
		mean := 0.0
		for n := range 31 {
			want := time.Duration(at[n]) * ms
			if n < len(o.at) && o.at[n] != want || n >= len(o.at) && want != 0 {
				t.Fatalf("time at %d: %v, want %v (spans %v, windows %v)", n, o.at, want, spans, v.Windows)
			}
			if at[n] > 0 {
				peak = n
			}
			if at[n] > at[mode] {
				mode = n
			}
			mean += float64(n*at[n]) / float64(total)
			if below += at[n]; p90 < 0 && 10*below >= 9*total {
				p90 = n
			}
		}
		above, touched := 0, 0
		for n := p90 + 1; n < 31; n++ {
			above += at[n]
		}
		for i, p := range peaks {
			if o.peaks[i] != p {
				t.Fatalf("peak of window %d: %d, want %d", i, o.peaks[i], p)
			}
			if p == peak {
				touched++
			}
		}
		c := o.concurrency()
		if c.Mode != mode || c.P90 != p90 || c.Peak != peak {
			t.Fatalf("mode/p90/peak %d/%d/%d, want %d/%d/%d", c.Mode, c.P90, c.Peak, mode, p90, peak)
		}
		near(t, "mean", c.Mean, mean, 1e-9)
		near(t, "share at the peak", c.PeakShare, float64(at[peak])/float64(total), 1e-9)
		near(t, "share above p90", c.AboveP90, float64(above)/float64(total), 1e-9)
		near(t, "windows with the peak", c.PeakInAll, float64(touched)/float64(len(peaks)), 1e-9)
	}
}

// A slot that is handed on in the same instant is one slot.
func TestEndsGoBeforeStarts(t *testing.T) {
	st := one(t, Data{
		Visits: []load.Visit{visit(0, 2, 0, 0, 1000, 1)},
		Samples: []load.Sample{
			answer(1, 0, 2, 100, 500), answer(2, 0, 2, 500, 900), // hand over at 500
			answer(3, 0, 1, 500), // one token: never decoding
		},
	})
	d := st.DecodeConcurrency
	if d.Peak != 1 || d.Mode != 1 || d.P90 != 1 || !d.OK {
		t.Errorf("mode/p90/peak %d/%d/%d, want 1/1/1", d.Mode, d.P90, d.Peak)
	}
	near(t, "mean", d.Mean, 0.8, 1e-9)
}

// A stream that was stopped by us was decoding until then.
func TestStoppedStreamsDecodeToTheEnd(t *testing.T) {
	st := one(t, Data{
		Visits:  []load.Visit{visit(0, 1, 0, 0, 1000, 1)},
		Samples: []load.Sample{stopped(answer(1, 0, 0, 200, 400, 600), 1000)},
	})
	near(t, "mean D", st.DecodeConcurrency.Mean, 0.8, 1e-9)
	st2 := one(t, Data{
		Visits:  []load.Visit{visit(0, 1, 0, 0, 1000, 1)},
		Samples: []load.Sample{stopped(answer(1, 0, 0, 200), 1000)},
	})
	if st2.DecodeConcurrency.OK {
		t.Errorf("one token so far: D %+v", st2.DecodeConcurrency)
	}
	near(t, "mean in flight", st.InFlight.Mean, 1, 1e-9)
}
