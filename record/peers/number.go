package peers

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"kneesweep/load"
)

// number is a figure of a file. It is undefined where the file holds null, NaN,
// an infinity, or something that is no number.
type number struct{ load.Opt[float64] }

// UnmarshalJSON reads a number, also one in quotes. It never fails: one odd field
// must not hide the others.
func (n *number) UnmarshalJSON(b []byte) error {
	*n = numberOf(strings.Trim(string(b), `"`))
	return nil
}

// numberOf reads the text of a number, with commas between thousands.
func numberOf(s string) number {
	v, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(s), ",", ""), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return number{}
	}
	return number{load.Some(v)}
}

// positive is the number if it is above 0. Tools write 0 or −1 where they have
// nothing to tell.
func (n number) positive() load.Opt[float64] {
	if n.V <= 0 {
		return load.Opt[float64]{}
	}
	return n.Opt
}

// in is a positive number in another unit, NaN if undefined: a member of a distribution.
func (n number) in(unit float64) float64 {
	if p := n.positive(); p.OK {
		return p.V * unit
	}
	return math.NaN()
}

// most is the largest count that a file is believed.
const most = 1 << 31

// count is a whole number from 0.
func (n number) count() load.Opt[int] {
	if !n.OK || n.V < 0 || n.V >= most || n.V != math.Trunc(n.V) {
		return load.Opt[int]{}
	}
	return load.Some(int(n.V))
}

// streams is a number of streams, 0 if it is none.
func (n number) streams() int { return n.count().V }

// loose is a value that describes a run. One of another kind than expected is
// as good as absent.
type loose[T any] struct{ V T }

// UnmarshalJSON reads a value; it never fails.
func (l *loose[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.V = v
	}
	return nil
}

// quantiles are the members of a distribution in a file.
type quantiles struct{ p50, p90, p95, p99, mean number }

// dist is the distribution in another unit, of count values as far as known. It
// is empty when the file tells neither median nor mean.
func (q quantiles) dist(unit float64, count load.Opt[int]) load.Dist {
	if !q.p50.positive().OK && !q.mean.positive().OK {
		return load.Dist{}
	}
	return load.Dist{
		P50: q.p50.in(unit), P90: q.p90.in(unit), P95: q.p95.in(unit), P99: q.p99.in(unit),
		Mean: q.mean.in(unit), Count: max(1, count.V),
	}
}

// rateOf is the distribution of 1/TPOT as far as that of TPOT tells it: the median.
func rateOf(tpot load.Dist) load.Dist {
	if tpot.Count == 0 || !(tpot.P50 > 0) {
		return load.Dist{}
	}
	nan := math.NaN()
	return load.Dist{P50: 1 / tpot.P50, P90: nan, P95: nan, P99: nan, Mean: nan, Count: tpot.Count}
}

// ratio is a / b where both are known and b is above 0.
func ratio(a load.Opt[float64], b load.Opt[float64]) load.Opt[float64] {
	if !a.OK || !b.OK || b.V <= 0 {
		return load.Opt[float64]{}
	}
	return load.Some(a.V / b.V)
}

func float(o load.Opt[int]) load.Opt[float64] {
	return load.Opt[float64]{V: float64(o.V), OK: o.OK}
}

// repaired returns data with NaN and Infinity, which Python writes although JSON
// has no such thing, replaced by what reads as undefined. Nothing moves, so that
// positions in errors stay right. data is not changed.
func repaired(data []byte) []byte {
	out := data
	put := func(at int, text string) int {
		if len(data) > 0 && &out[0] == &data[0] {
			out = bytes.Clone(data)
		}
		return copy(out[at:], text)
	}
	quoted := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == 'N' && bytes.HasPrefix(data[i:], []byte("NaN")):
			i += put(i, `"" `) - 1
		case c == 'I' && bytes.HasPrefix(data[i:], []byte("Infinity")):
			i += put(i, "null    ") - 1
		case c == '-' && bytes.HasPrefix(data[i:], []byte("-Infinity")):
			i += put(i, "null     ") - 1
		}
	}
	return out
}
