package analysis

import (
	"fmt"
	"testing"

	"kneesweep/load"
)

func TestMixtures(t *testing.T) {
	st := load.Step{
		Models:       map[string]int{"m": 95, "m-mini": 5},
		Fingerprints: map[string]int{"fp": 100},
		Headers:      map[string]int{"X-Region: eu": 60, "X-Region: us": 40, "X-Node: 1": 100},
	}
	got := mixtures(&st)
	if len(got) != 2 || got[0] != load.Warnf(load.WarnMixedModels, "answers came from 2 models: m (95 of 100), m-mini (5 of 100)") ||
		got[1] != load.Warnf(load.WarnMixedHeaders, "answers differ in the header X-Region: eu (60 of 100), us (40 of 100)") {
		t.Errorf("got %v", got)
	}
}

// A header that differs with every request does not fill the curve.
func TestFewValues(t *testing.T) {
	headers, sum := map[string]int{"X-Region: eu": 3}, 0
	for i := range 100 {
		headers[fmt.Sprintf("X-Request: %03d", i)] = 1 + i%2
	}
	got := fewValues(headers)
	for _, n := range got {
		sum += n
	}
	if len(got) != mostValues+2 || got["X-Region: eu"] != 3 || got["X-Request: (others)"] != 150-2*mostValues || sum != 153 {
		t.Errorf("%d values, %d in all: %v", len(got), sum, got)
	}
}
