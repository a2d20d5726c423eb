package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kneesweep/analysis/knee"
)

// A verdict that is not a knee is said in words that tell what to do next, and no
// number is given for it. The reports that the inputs come from stand in
// analysis/knee.
func TestVerdictsInWords(t *testing.T) {
	t.Parallel()
	const doubling = "1,2,4,8,16,32,64"
	straightN, straightX := hundredfold()
	for _, c := range []struct {
		name, levels, rates string
		verdict             string
		from                any // the level from which throughput declines
		words               []string
	}{
		{"knee between levels", doubling, "40,80,160,320,640,1000,1000", "knee", nil,
			[]string{"Throughput stops growing at 25 parallel streams", "1,000 output tokens/s"}},
		{"tiny values", doubling, "40e-6,80e-6,160e-6,320e-6,640e-6,1000e-6,1000e-6", "knee", nil,
			[]string{"Throughput stops growing at 25 parallel streams"}},
		{"large levels", "1000,2000,4000,8000,16000,32000,64000", "40,80,160,320,640,1000,1000", "knee", nil,
			[]string{"Throughput stops growing at 25,000 parallel streams"}},
		{"straight line", straightN, straightX, "not_located", nil,
			[]string{"not located up to 19 parallel streams, the highest level measured", "sweep to at least 38"}},
		{"superlinear", "1,2,4,8", "100,220,480,1000", "not_located", nil,
			[]string{"not located up to 8 parallel streams", "sweep to at least 16"}},
		{"hyperbola", doubling + ",128", "58.8,111.1,200,333.3,500,666.7,800,888.9", "still_rising", nil,
			[]string{"Throughput still rises at 128 parallel streams", "per doubling", "low_confidence"}},
		{"declines from the first level", "1,2,4,8", "400,350,300,250", "at_or_below_first", 2.0,
			[]string{"does not grow past the first level, 1 parallel stream", "From 2 parallel streams on throughput declines"}},
		{"rise, plateau, collapse", doubling, "100,200,400,800,800,700,500", "knee", 32.0,
			[]string{"Throughput stops growing at 8 parallel streams", "From 32 parallel streams on throughput declines"}},
		{"universal scalability law", doubling + ",128", "100,190.1,344.2,569.0,804.0,903.4,782.2,542.2", "knee", 128.0,
			[]string{"From 128 parallel streams on throughput declines"}},
		{"one bad step", "1,2,4,8,16,24,32,48,64", "100,200,400,800,1600,1600,1100,1600,1600", "knee", nil,
			[]string{"outlier: N = 32 lies", "left out, measure it again"}},
		{"failed level", doubling, "50,100,200,400,0,800,800", "knee", nil,
			[]string{"Throughput stops growing at 16 parallel streams"}},
		{"three levels", "1,2,4", "100,200,210", "too_few_levels", nil,
			[]string{"Too few levels for a knee: 3 valid levels measured, at least 4 needed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := write(t, "curve.csv", csvOf(c.levels, c.rates))
			r := command("analyze", file)
			text := strings.Join(strings.Fields(r.out), " ")
			for _, w := range c.words {
				if !strings.Contains(text, w) {
					t.Errorf("%q is not said:\n%s", w, r.out)
				}
			}
			doc := object(t, command("analyze", "--json", file).out)
			if got := at(t, doc, "knee.verdict"); r.code != 0 || got != c.verdict {
				t.Errorf("exit %d, verdict %v, want %s", r.code, got, c.verdict)
			}
			if (at(t, doc, "knee.concurrency") != nil) != (c.verdict == "knee") {
				t.Errorf("verdict %s with the knee at %v", c.verdict, at(t, doc, "knee.concurrency"))
			}
			retrograde, _ := at(t, doc, "knee.retrograde").(map[string]any)
			if got := retrograde["from"]; got != c.from {
				t.Errorf("declines from %v, want %v", got, c.from)
			}
		})
	}
}

// The command says of a table what the estimator says of its windows: the 39
// curves whose verdicts analysis/knee compares with their experts'.
func TestPublishedCurvesAsTables(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/curves/*.json")
	if err != nil || len(files) != 39 {
		t.Fatalf("%d curves, want 39 (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			points, table := publishedCurve(t, file)
			doc := object(t, command("analyze", "--json", write(t, "curve.csv", table)).out)
			seed, _ := at(t, doc, "run.seed").(float64)
			want := knee.Choose(points, uint64(seed))
			got := [3]any{at(t, doc, "knee.verdict"), at(t, doc, "knee.soft"), nil}
			expect := [3]any{string(want.Verdict), want.Soft, nil}
			if c := want.Concurrency; c.OK {
				expect[2] = c.V.Value
				got[2] = at(t, doc, "knee.concurrency.value")
			}
			if got != expect {
				t.Errorf("%v, want %v", got, expect)
			}
		})
	}
}

// publishedCurve reads levels and windows of a curve, and writes them as a table.
func publishedCurve(t *testing.T, file string) (points []knee.Point, table string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Points []struct {
			N       int
			Repeats []float64
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("concurrency,output_tokens_per_second\n")
	for _, p := range doc.Points {
		points = append(points, knee.Point{N: p.N, Windows: p.Repeats})
		for _, x := range p.Repeats {
			fmt.Fprintf(&b, "%d,%g\n", p.N, x)
		}
	}
	return points, b.String()
}
