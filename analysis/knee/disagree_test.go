package knee

import (
	"strings"
	"testing"

	"kneesweep/load"
)

func TestDisagree(t *testing.T) {
	at := func(method string, k float64) Estimate {
		return Estimate{Method: method, Concurrency: load.Some(load.Estimate{Value: k, Lo: k, Hi: k})}
	}
	r := Result{Verdict: Found, Method: MethodSegmented, Concurrency: load.Some(load.Estimate{Value: 20, Lo: 14, Hi: 28})}
	tests := []struct {
		name      string
		estimates []Estimate
		want      string // part of the warning; empty for none
	}{
		{"none", nil, ""},
		{"a quarter away", []Estimate{at(MethodHyperbolaCap, 25)}, ""},
		{"inside the interval", []Estimate{at(MethodHyperbolaCap, 27)}, ""},
		{"above", []Estimate{at(MethodHyperbolaCap, 31)}, "at 31 with a ramp that bends"},
		{"below", []Estimate{at(MethodSegmentedFree, 13)}, "at 13 with a second line"},
		{"both", []Estimate{at(MethodSegmentedFree, 13), at(MethodHyperbolaCap, 31)}, " and "},
		{"no such corner", []Estimate{{Method: MethodHyperbolaCap, Note: "runs away"}}, ""},
		{"other figures", []Estimate{at(MethodUSL, 90), at(MethodKneedle, 64), at(MethodAsymptotic, 5), at(MethodN95, 5)}, ""},
	}
	for _, test := range tests {
		w, ok := Disagree(r, test.estimates)
		if ok != (test.want != "") || !strings.Contains(w.Text, test.want) || ok && w.Code != load.WarnEstimates {
			t.Errorf("%s: %+v, want %q", test.name, w, test.want)
		}
	}
	r.Verdict = NotLocated
	if w, ok := Disagree(r, []Estimate{at(MethodHyperbolaCap, 31)}); ok {
		t.Errorf("%+v without a knee", w)
	}
}
