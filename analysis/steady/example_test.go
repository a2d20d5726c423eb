package steady_test

import (
	"fmt"

	"kneesweep/analysis/steady"
)

func ExampleTest() {
	r := steady.Test([]float64{70, 78, 81, 86, 92, 93, 99, 104, 107, 115})
	fmt.Println(r.Steady, r.Reason)
	// Output: false trend of +45.0 % from begin to end (p = 8.3e-05)
}
