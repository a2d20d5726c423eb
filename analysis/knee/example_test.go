package knee_test

import (
	"fmt"

	"kneesweep/analysis/knee"
)

func ExampleChoose() {
	r := knee.Choose([]knee.Point{
		{N: 1, Windows: []float64{39, 40, 41}},
		{N: 4, Windows: []float64{159, 160, 162}},
		{N: 16, Windows: []float64{640, 638, 645}},
		{N: 32, Windows: []float64{998, 1000, 1003}},
		{N: 64, Windows: []float64{1001, 1000, 997}},
	}, 1)
	fmt.Printf("%s at %.0f streams, plateau %.0f tokens/s\n", r.Verdict, r.Concurrency.V.Value, r.Plateau.V)
	// Output: knee at 25 streams, plateau 1000 tokens/s
}
