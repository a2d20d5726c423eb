package knee

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of docs/accuracy.md anew")

const accuracyDoc = "../../docs/accuracy.md"

// disagreements are the curves on which the verdict is another one than their
// expert's. docs/accuracy.md gives the reason of each. None of them claims a knee.
var disagreements = []string{
	"inferencebench-llamacpp-np4-short",
	"nim-llama33-70b-v15-table2",
	"vultr-b200-nemotron-nano-30b",
}

// agrees reports whether a verdict is what is expected of a curve.
func agrees(c curve, r Result) bool {
	unbounded := r.Verdict == StillRising || r.Verdict == NotLocated
	switch c.Expected {
	case "none":
		return unbounded
	case "no_sharp_knee":
		return r.Verdict == Found && r.Soft || r.Verdict == StillRising
	case "knee+retrograde":
		return r.Verdict == Found && r.Retrograde != nil
	default:
		return string(r.Verdict) == c.Expected
	}
}

// The verdicts on 39 curves, real and made, are those of experts and of the
// truth, but for a known few; `go test -v -run TestAgreement ./analysis/knee`
// prints the table of docs/accuracy.md.
func TestAgreement(t *testing.T) {
	curves := readCurves(t)
	var table strings.Builder
	var missed []string
	fmt.Fprintf(&table, "| curve | levels | windows | expected | found | knee | truth or expert | |\n|---|---|---|---|---|---|---|---|\n")
	for _, c := range curves {
		r := Choose(c.points(), 1)
		checkInvariants(t, r)
		checkPlace(t, c, r)
		mark := "agrees"
		if !agrees(c, r) {
			missed = append(missed, c.Name)
			mark = "**differs**"
			if r.Verdict == Found {
				t.Errorf("%s: a false knee at %+v", c.Name, r.Concurrency.V)
			}
		}
		fmt.Fprintf(&table, "| %s | %d | %d | %s | %s | %s | %s | %s |\n",
			c.Name, len(c.Points), len(c.Points[0].Repeats), c.Expected, inWords(r), place(r), c.place(), mark)
	}
	fmt.Fprintf(&table, "\n%d of %d agree. ", len(curves)-len(missed), len(curves))
	table.WriteString(jackknife(curves))
	t.Logf("\n%s", table.String())
	if !slices.Equal(missed, disagreements) {
		t.Errorf("these differ: %v, want %v", missed, disagreements)
	}
	checkDoc(t, table.String())
}

// checkPlace wants a knee where the truth or the expert's range, a quarter wider
// on either side, is.
func checkPlace(t *testing.T, c curve, r Result) {
	t.Helper()
	if r.Verdict != Found {
		return
	}
	k := r.Concurrency.V.Value
	if truth, known := c.Truth.Knee.(float64); known && !near(k, truth, *c.Tolerance.Truth) {
		t.Errorf("%s: knee %.4g, want %g within %.0f %%", c.Name, k, truth, 100**c.Tolerance.Truth)
	}
	if e := c.Expert; e != nil && len(e.Range) == 2 && (k < 0.75*e.Range[0] || k > 1.25*e.Range[1]) {
		t.Errorf("%s: knee %.4g, want %g to %g, a quarter wider", c.Name, k, e.Range[0], e.Range[1])
	}
}

func inWords(r Result) string {
	words := string(r.Verdict)
	if r.Soft {
		words += ", soft"
	}
	if r.Retrograde != nil {
		words += fmt.Sprintf(", declines from %d", r.Retrograde.From)
	}
	return words
}

func place(r Result) string {
	if !r.Concurrency.OK {
		return ""
	}
	k := r.Concurrency.V
	return fmt.Sprintf("%.4g [%.4g, %.4g]", k.Value, k.Lo, k.Hi)
}

// place is where the knee of a curve is known or seen to be.
func (c curve) place() string {
	if truth, known := c.Truth.Knee.(float64); known {
		return fmt.Sprintf("%g", truth)
	}
	if c.Expert != nil && len(c.Expert.Range) == 2 {
		return fmt.Sprintf("%g to %g", c.Expert.Range[0], c.Expert.Range[1])
	}
	return ""
}

// jackknife leaves out every level of every curve in turn and says how often the
// verdict becomes another one.
func jackknife(curves []curve) string {
	var tried, flipped, lost, gained, wrong int
	for _, c := range curves {
		points := c.points()
		full := Choose(points, 1)
		if full.Verdict == TooFewLevels {
			continue
		}
		for i := range points {
			r := Choose(slices.Concat(points[:i], points[i+1:]), 1)
			tried++
			if r.Verdict == full.Verdict {
				continue
			}
			flipped++
			switch {
			case full.Verdict == Found:
				lost++
			case r.Verdict == Found && c.Expected == "none":
				wrong++
			case r.Verdict == Found:
				gained++
			}
		}
	}
	return fmt.Sprintf("With one level left out of each curve in turn the verdict becomes another one in %d of %d: "+
		"a knee is lost in %d, found in %d where an expert saw one or a flat start, and found in %d where there is none; "+
		"in the others `still_rising` and `not_located` change places, or too few levels are left.\n",
		flipped, tried, lost, gained, wrong)
}

// checkDoc compares the part of docs/accuracy.md between two marks with want.
func checkDoc(t *testing.T, want string) {
	t.Helper()
	const begin, end = "<!-- curves: go test ./analysis/knee -run TestAgreement -update -->\n", "<!-- end -->\n"
	raw, err := os.ReadFile(accuracyDoc)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(raw), begin)
	got, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no %q followed by %q", accuracyDoc, begin, end)
	}
	if got == want {
		return
	}
	if !*update {
		t.Errorf("the table of %s is not current: go test ./analysis/knee -run TestAgreement -update", accuracyDoc)
		return
	}
	if err := os.WriteFile(accuracyDoc, []byte(before+begin+want+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
