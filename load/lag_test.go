package load

import (
	"reflect"
	"testing"
	"time"
)

// Every lag falls into the bucket whose edges enclose it.
func TestLags(t *testing.T) {
	var l Lags
	if got := l.Lag(); !reflect.DeepEqual(got, Lag{}) || got.Chunks() != 0 {
		t.Errorf("nothing gathered: %+v", got)
	}
	const us = time.Microsecond
	for _, d := range []time.Duration{0, 8*us - 1, 8 * us, 16*us - 1, 16 * us, 100 * us} {
		l.Add(d)
	}
	if got, want := l.Lag(), (Lag{100 * us, []int32{2, 2, 1, 0, 1}}); !reflect.DeepEqual(got, want) || got.Chunks() != 6 {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for i := range lagBuckets {
		for _, c := range []struct {
			d  time.Duration
			in int
		}{{LagEdge(i) - 1, i}, {LagEdge(i), min(i+1, lagBuckets-1)}} {
			var one Lags
			one.Add(c.d)
			if got := len(one.Lag().Counts) - 1; got != c.in {
				t.Errorf("%v falls into bucket %d, want %d", c.d, got, c.in)
			}
		}
	}
	l.Add(24 * time.Hour)
	if got := l.Lag(); len(got.Counts) != lagBuckets || got.Max != 24*time.Hour {
		t.Errorf("a day: %+v", got)
	}
}
