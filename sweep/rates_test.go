package sweep_test

import (
	"slices"
	"strings"
	"testing"

	"kneesweep/sweep"
)

func TestParseRates(t *testing.T) {
	for text, want := range map[string][]float64{
		"8,1,2,4":                 {1, 2, 4, 8},
		"1,1.0,2,1e0":             {1, 2},
		"0.5:2:0.5":               {0.5, 1, 1.5, 2},
		"1:5:x2":                  {1, 2, 4, 5},
		"0.1:0.4:0.1":             {0.1, 0.2, 0.3, 0.4},
		"10:30:x1.5, 0.25":        {0.25, 10, 15, 22.5, 30},
		"2.0004,2":                {2},
		" 3 ":                     {3},
		"0.001,100000":            {0.001, 100000},
		"5:5:1":                   {5},
		"1:2:x1.2599210498948732": {1, 1.26, 1.587, 2},
	} {
		if got, err := sweep.ParseRates(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"0": "not at least 0.001", "-1": "not at least", "NaN": `"NaN" is not a number`, "Inf": "above the bound", "1,,2": "empty item", "": "empty item",
		"1:2": "a range is", "4:2:1": "4 is above 2", "1:2:0": "the step", "1:2:x1": "not a number above 1", "1:2:xNaN": "not a number above 1", "fast": "is not a number",
		"1:100000:0.001": "more than 1000", "0.0001": "not at least", "1e9": "above the bound",
	} {
		_, err := sweep.ParseRates(text)
		if err == nil || !strings.HasPrefix(err.Error(), "--rates: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
