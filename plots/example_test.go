package plots_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"gonum.org/v1/plot/cmpimg"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/plots"
)

// The endpoints of the examples, measured once.
var (
	one = sync.OnceValue(func() analysis.Data {
		return measured(endpoint{slots: 16, prefill: 60 * time.Millisecond, gap: 20 * time.Millisecond})
	})
	other = sync.OnceValue(func() analysis.Data {
		d := measured(endpoint{slots: 10, prefill: 40 * time.Millisecond, gap: 16 * time.Millisecond})
		d.Run.Label = "4-bit quantised"
		return d
	})
	curve      = sync.OnceValue(func() analysis.Curve { return analysis.Analyze(one()) })
	otherCurve = sync.OnceValue(func() analysis.Curve { return analysis.Analyze(other()) })
)

// tolerance is how much a picture may differ from its golden one, in the measure of
// cmpimg: edges of letters come out differently on other machines.
const tolerance = 0.1

// compare holds a figure against its golden picture and says how that went. With
// -update it writes the picture instead.
func compare(name string, f *plots.Figure, err error) {
	if err != nil {
		fmt.Println(err)
		return
	}
	var got bytes.Buffer
	if err := f.WriteGolden(&got); err != nil {
		fmt.Println(err)
		return
	}
	path := filepath.Join("..", "testdata", "golden", name+".png")
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			fmt.Println(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	same, err := cmpimg.EqualApprox("png", got.Bytes(), want, tolerance)
	if err != nil || !same {
		fmt.Println("differs from", path, "(look at it, then run go test ./plots -update)", err)
		return
	}
	fmt.Println(name + ".png")
}

// The capacity curve of one endpoint.
func ExampleCapacity() {
	figure, err := plots.Capacity(curve())
	compare("capacity", figure, err)
	// Output: capacity.png
}

// Two runs on one chart, the axis of streams even.
func ExampleOverlay() {
	figure, err := plots.Overlay([]analysis.Curve{curve(), otherCurve()}, plots.AxisLinear)
	compare("overlay", figure, err)
	// Output: overlay.png
}

// What the levels cost in time.
func ExampleLatency() {
	figure, err := plots.Latency([]analysis.Curve{curve()}, plots.AxisLog)
	compare("latency", figure, err)
	// Output: latency.png
}

// What output costs at each level, on two GPUs of $1.80 an hour.
func ExampleCost() {
	priced := analysis.Priced(curve(), load.Prices{Hour: 1.8, GPUs: 2, Duty: 0.5})
	figure, err := plots.Cost([]analysis.Curve{priced}, plots.AxisLog)
	compare("cost", figure, err)
	// Output: cost.png
}

// The tokens/s of each stream against those of all.
func ExamplePareto() {
	figure, err := plots.Pareto([]analysis.Curve{curve()})
	compare("pareto", figure, err)
	// Output: pareto.png
}

// The distribution of TTFT from single requests.
func ExampleTTFTDistribution() {
	requests := one()
	spreads := analysis.Spreads(curve(), &requests, analysis.LatencyTTFT)
	figure, err := plots.TTFTDistribution(curve(), spreads, plots.AxisLog)
	compare("ttft-distribution", figure, err)
	// Output: ttft-distribution.png
}

// The distribution of ITL from what the steps hold.
func ExampleITLDistribution() {
	spreads := analysis.Spreads(curve(), nil, analysis.LatencyITL)
	figure, err := plots.ITLDistribution(curve(), spreads, plots.AxisLog)
	compare("itl-distribution", figure, err)
	// Output: itl-distribution.png
}

// A level above the knee over time.
func ExampleTimeline() {
	timeline, _ := analysis.NewTimeline(one(), 24)
	compare("timeline", plots.Timeline(curve(), timeline), nil)
	// Output: timeline.png
}

// The knee over two settings, a map for each value of a third.
func ExampleHeatMap() {
	a, b := curve(), otherCurve()
	maps := []plots.Heat{
		{Heading: "no-stream=false", Cells: [][]*analysis.Curve{{&a, &b}, {&b, &b}}},
		{Heading: "no-stream=true", Cells: [][]*analysis.Curve{{&a, &a}, {&b, nil}}},
	}
	figure, err := plots.HeatMap("input-tokens", []string{"256", "1024"}, "output-tokens", []string{"32", "128"}, maps)
	compare("heatmap", figure, err)
	// Output: heatmap.png
}
