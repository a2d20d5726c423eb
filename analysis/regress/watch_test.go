package regress

import (
	"math"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

var begin = time.Date(2026, 11, 1, 2, 30, 0, 0, time.UTC)

// levels are nights with one level of 32 streams each.
func levels(rates ...float64) []Night {
	var nights []Night
	for i, x := range rates {
		nights = append(nights, Night{ID: "n", At: begin.AddDate(0, 0, i), Levels: map[int]Level{32: {Rate: x}}})
	}
	return nights
}

// wave is n nights around 1000 tokens/s with a scatter of about 2 %.
func wave(n int, change func(i int) float64) []Night {
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = 1000 * (1 + 0.028*math.Sin(float64(i*i)*1.3+float64(i))) * change(i)
	}
	return levels(rates...)
}

func flat(int) float64 { return 1 }

// The nights of a well-known false alarm and of a true one: one standard deviation and a
// half is an ordinary night, five are not, and two runs are no history.
func TestFewNights(t *testing.T) {
	past := []float64{1000, 960, 1040, 985, 1015}
	for _, c := range []struct {
		rates []float64
		want  Verdict
		said  string
	}{
		{append(past[:5:5], 955), Steady, "No change: every figure lies where the 5 runs before it lead to expect it."},
		{append(past[:5:5], 850), Regression, "Regression since 2026-11-06: throughput at common levels −15 %"},
		{append(past[:5:5], 1190), Improvement, "Improvement since 2026-11-06: throughput at common levels +19 %"},
		{append(past[:2:2], 850), NotEnough, "Not enough history: 3 of the 4 runs"},
		{nil, NotEnough, ""},
	} {
		nights := levels(c.rates...)
		r := Watch(nights, Options{})
		if said := r.Sentence(nights); r.Verdict != c.want || !strings.HasPrefix(said, c.said) {
			t.Errorf("%v: %s, %q", c.rates, r.Verdict, said)
		}
	}
}

func TestLastingStep(t *testing.T) {
	nights := wave(40, func(i int) float64 {
		if i >= 30 {
			return 0.86
		}
		return 1
	})
	for last := 31; last <= 40; last++ {
		r := Watch(nights[:last], Options{})
		if len(r.Events) != 1 || r.Events[0].Since != 30 || !r.Events[0].Worse || r.Events[0].Back.OK || r.Events[0].Night > 31 {
			t.Fatalf("after %d nights: %+v", last, r.Events)
		}
		if want := map[bool]Verdict{true: Regression, false: Steady}[r.Events[0].Night == last-1]; r.Verdict != want && r.Verdict != Drifting {
			t.Errorf("after %d nights: %s", last, r.Verdict)
		}
	}
	if s := Watch(nights, Options{}).Events[0].Shifts[0]; s.Figure != Throughput || math.Abs(s.Change+0.14) > 0.05 || s.Lo > s.Change || s.Hi < s.Change {
		t.Errorf("%+v", s)
	}
	if said := Watch(nights, Options{}).Sentence(nights); !strings.Contains(said, "(since 2026-12-01: throughput at common levels −1") {
		t.Errorf("ten nights later: %q", said)
	}
}

// A night that was slow by chance is an excursion: it raises one alarm, and the next ones none.
func TestExcursion(t *testing.T) {
	nights := wave(45, func(i int) float64 {
		if i == 30 {
			return 0.8
		}
		return 1
	})
	r := Watch(nights, Options{})
	if len(r.Events) != 1 || r.Events[0].Night != 30 || r.Events[0].Back != load.Some(31) || r.Verdict != Steady {
		t.Errorf("%s: %+v", r.Verdict, r.Events)
	}
}

// A slow loss is a drift and no step.
func TestDrift(t *testing.T) {
	nights := wave(60, func(i int) float64 { return math.Pow(0.9, max(0, float64(i-20))/30) })
	r := Watch(nights, Options{})
	if r.Verdict != Drifting || len(r.Events) != 0 || len(r.Drifts) != 1 || !r.Drifts[0].Worse || math.Abs(r.Drifts[0].PerDay+0.0035) > 0.002 {
		t.Errorf("%s: %+v, %+v", r.Verdict, r.Events, r.Drifts)
	}
	if said := r.Sentence(nights); !strings.HasPrefix(said, "Drift, and no step: throughput at common levels −") {
		t.Error(said)
	}
}

func TestNothingHappens(t *testing.T) {
	nights := wave(60, flat)
	if r := Watch(nights, Options{}); r.Verdict != Steady || len(r.Events) != 0 {
		t.Errorf("%s: %+v", r.Verdict, r.Events)
	}
	same := make([]float64, 20) // no scatter at all: nothing to judge by
	for i := range same {
		same[i] = 1000
	}
	if r := Watch(levels(same...), Options{}); r.Verdict != Steady {
		t.Errorf("equal nights: %s", r.Verdict)
	}
}

// What a night says does not depend on the nights after it.
func TestLaterNightsChangeNothing(t *testing.T) {
	nights := wave(50, func(i int) float64 {
		if i >= 25 {
			return 0.8
		}
		return 1
	})
	whole := Watch(nights, Options{}).Events
	for n := range nights {
		for i, e := range Watch(nights[:n+1], Options{}).Events {
			if e.Back = whole[i].Back; e.Night != whole[i].Night || e.Since != whole[i].Since || len(e.Shifts) != len(whole[i].Shifts) {
				t.Fatalf("after %d nights event %d is %+v, later %+v", n+1, i, e, whole[i])
			}
		}
	}
}

// Levels that only some nights have are compared where they are common, and a figure that
// a night lacks is left out.
func TestLevelsComeAndGo(t *testing.T) {
	nights := wave(30, flat)
	for i := range nights {
		if i%7 == 3 {
			nights[i].Levels[64] = Level{Rate: 5000}
		}
		if i%5 == 1 {
			nights[i].Levels = map[int]Level{}
		}
		nights[i].Knee = load.Opt[float64]{V: 24 + float64(i%3), OK: i%2 == 0}
	}
	if r := Watch(nights, Options{}); len(r.Events) != 0 {
		t.Errorf("%+v", r.Events)
	}
	if got := common(nights); len(got) != 1 || got[0] != 32 {
		t.Errorf("common levels %v", got)
	}
}

func TestFromCurve(t *testing.T) {
	c := analysis.Curve{Run: load.Run{ID: "r", Started: begin}, Steps: []load.Step{
		{Concurrency: 1, Valid: true, Throughput: load.Some(load.Estimate{Value: 10}), TTFT: load.Dist{P50: 0.1, Count: 3}},
		{Concurrency: 2, Throughput: load.Some(load.Estimate{Value: 20})},
	}}
	if n := FromCurve(c); n.ID != "r" || len(n.Levels) != 1 || n.Levels[1] != (Level{10, 0.1}) || n.Knee.OK {
		t.Errorf("%+v", n)
	}
}
