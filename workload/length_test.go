package workload_test

import (
	"math"
	"strings"
	"testing"

	"kneesweep/workload"
)

// lengthOf parses a length; file:NAME has the rows 10,1 20,2 30,3 40,4.
func lengthOf(t *testing.T, s string) workload.Length {
	t.Helper()
	if !strings.HasPrefix(s, "file:") {
		l, err := workload.ParseLength(s)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	trace, err := workload.ReadTrace(strings.NewReader("input,output\n10,1\n20,2\n30,3\n40,4\n"), "dir/lengths.csv", false)
	if err != nil {
		t.Fatal(err)
	}
	l, err := trace.Inputs()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestLengthsHaveTheMomentsAskedFor draws many answers: mean, standard deviation and
// range are those of the distribution, which Mean and Range state.
func TestLengthsHaveTheMomentsAskedFor(t *testing.T) {
	const n = 20_000
	for s, want := range map[string]struct{ mean, sd, least, most float64 }{
		"uniform:100:900":  {500, math.Sqrt((801*801 - 1) / 12.0), 100, 900},
		"uniform:7:7":      {7, 0, 7, 7},
		"normal:512:100":   {512, 99.93, 112, 912}, // cut off at four deviations
		"normal:2:1":       {2.13, 0.90, 1, 6},     // cut off below 1, in whole numbers
		"lognormal:512:.5": {512 * math.Exp(.125), 512 * math.Exp(.125) * math.Sqrt(math.Exp(.25)-1), 69, 3783},
		"file:lengths.csv": {25, math.Sqrt(125), 10, 40},
	} {
		l := lengthOf(t, s)
		least, most := l.Range()
		if float64(least) != want.least || float64(most) != want.most {
			t.Errorf("%s: range %d to %d, want %v to %v", s, least, most, want.least, want.most)
		}
		sum, squares := 0.0, 0.0
		source := workload.Synthetic{InputTokens: 1, Output: l, Seed: 3}
		for seq := range n {
			x := source.Prompt(workload.Key{Concurrency: 4, Seq: seq}).OutputTokens
			if x < least || x > most {
				t.Fatalf("%s: drew %d", s, x)
			}
			sum, squares = sum+float64(x), squares+float64(x)*float64(x)
		}
		mean := sum / n
		sd := math.Sqrt(squares/n - mean*mean)
		slack := 4*want.sd/math.Sqrt(n) + 1e-9
		if math.Abs(mean-want.mean) > slack+0.02 || math.Abs(sd-want.sd) > 0.03*want.sd {
			t.Errorf("%s: mean %.3f, deviation %.3f, want %.3f and %.3f", s, mean, sd, want.mean, want.sd)
		}
		if math.Abs(l.Mean()-mean) > slack+0.02 {
			t.Errorf("%s: says its mean is %.3f, drew %.3f", s, l.Mean(), mean)
		}
	}
}

// Prompts and answers draw apart, but for the rows of one file.
func TestPromptsKeepTheirAnswers(t *testing.T) {
	trace, err := workload.ReadTrace(strings.NewReader("input,output\n10,1\n20,2\n30,3\n40,4\n"), "lengths.csv", false)
	if err != nil {
		t.Fatal(err)
	}
	in, _ := trace.Inputs()
	out, _ := trace.Outputs()
	rows := workload.Synthetic{Input: in, Output: out, Seed: 1}
	apart := workload.Synthetic{Input: workload.Uniform{From: 1, To: 2}, Output: workload.Uniform{From: 1, To: 2}, Seed: 1}
	pairs := map[[2]int]int{}
	for seq := range 400 {
		p := rows.Prompt(workload.Key{Seq: seq})
		if p.InputTokens != 10*p.OutputTokens || len(strings.Fields(p.Messages[0].Content)) != p.InputTokens {
			t.Fatalf("asked %d tokens for %d", p.InputTokens, p.OutputTokens)
		}
		p = apart.Prompt(workload.Key{Seq: seq})
		pairs[[2]int{p.InputTokens, p.OutputTokens}]++
	}
	for _, n := range pairs {
		if len(pairs) != 4 || n < 60 {
			t.Errorf("lengths come in pairs: %v", pairs)
		}
	}
}

func TestLengthsSayWhatIsAsked(t *testing.T) {
	for _, s := range []string{"512", "uniform:100:900", "normal:512:100", "lognormal:512:0.5", "file:lengths.csv"} {
		if got := lengthOf(t, s).String(); got != s {
			t.Errorf("%s became %s", s, got)
		}
	}
	s := workload.Synthetic{Input: workload.Uniform{From: 100, To: 900}, Output: workload.Fixed(40)}
	d := s.Describe()
	if d.InputTokensAsked != 0 || d.InputLengths.Asked != "uniform:100:900" || d.InputLengths.Mean != 500 || d.OutputTokensAsked != 40 || d.OutputLengths.Asked != "" {
		t.Errorf("%+v", d)
	}
	if mean, most := s.Lengths(); mean != 540 || most != 940 || s.LeastPrompt() != 100 {
		t.Errorf("%d on average, %d at most, %d at least", mean, most, s.LeastPrompt())
	}
}

func TestDrawnLengthsAreCalibrated(t *testing.T) {
	s := workload.Synthetic{Input: workload.Uniform{From: 100, To: 900}, Output: workload.Fixed(40)}
	got := 2 * len(strings.Fields(s.Prompt(workload.Preflight).Messages[0].Content)) // two tokens a word
	c := s.Calibrate(got)
	for seq := range 50 {
		p := c.Prompt(workload.Key{Concurrency: 1, Seq: seq})
		if n := 2 * len(strings.Fields(p.Messages[0].Content)); math.Abs(float64(n-p.InputTokens)) > 1 {
			t.Errorf("%d tokens for %d", n, p.InputTokens)
		}
	}
	if s.Hash() == c.Hash() {
		t.Error("shorter prompts have the same hash")
	}
}

func FuzzParseLength(f *testing.F) {
	for _, s := range []string{"512", "uniform:100:900", "normal:512:100", "lognormal:512:.5", "file:x", "uniform:1:1e999", "normal:NaN:1", "lognormal:1:1e-300", ":", ""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		l, err := workload.ParseLength(s)
		if err != nil {
			return
		}
		least, most := l.Range()
		if least < 1 || most < least || !(l.Mean() >= float64(least)-1) || !(l.Mean() <= float64(most)+1) {
			t.Errorf("%q: %d to %d, mean %v", s, least, most, l.Mean())
		}
		source := workload.Synthetic{InputTokens: 1, Output: l}
		for seq := range 3 {
			if n := source.Prompt(workload.Key{Seq: seq}).OutputTokens; n < least || n > most {
				t.Errorf("%q: drew %d", s, n)
			}
		}
		if again, err := workload.ParseLength(l.String()); err != nil || again != l {
			t.Errorf("%q is written %q, which reads %v, %v", s, l, again, err)
		}
	})
}
