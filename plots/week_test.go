package plots_test

import (
	"math"
	"testing"

	"kneesweep/plots"
)

// busy is an endpoint that others use on working days: slow from nine to five.
func busy() plots.Week {
	var w plots.Week
	for day := range 7 {
		for hour := range 24 {
			x := 2400 + 40*math.Sin(float64(day*24+hour))
			if day < 5 && hour >= 9 && hour < 17 {
				x -= 900
			}
			if (day*24+hour)%5 != 3 {
				w[day][hour] = plots.WeekCell{Runs: 1 + (day+hour)%9, Value: x}
			}
		}
	}
	return w
}

// The plateau of an endpoint by hour and weekday.
func ExampleWeekMap() {
	figure, err := plots.WeekMap("Plateau, output tokens/s", "my-model · http://llm:8000/v1 · hours of Europe/Berlin", busy())
	compare("week", figure, err)
	// Output: week.png
}

func TestWeekOfFew(t *testing.T) {
	t.Parallel()
	if _, err := plots.WeekMap("", "", plots.Week{}); err == nil {
		t.Error("a figure of nothing")
	}
	for _, x := range []float64{1e-6, 0.5, 5, 50, 999.9, 1e3, 9999, 1e6, 1e12} {
		var w plots.Week
		w[3][7] = plots.WeekCell{Runs: 12345, Value: x}
		figure, err := plots.WeekMap("m", "s", w)
		if err != nil {
			t.Fatal(err)
		}
		var got discard
		if err := figure.Write(&got, "svg"); err != nil || got == 0 {
			t.Errorf("%v: %d bytes: %v", x, got, err)
		}
	}
}
