package plots

import (
	"bytes"
	"strings"
	"testing"

	"kneesweep/analysis"
)

// heats are two maps with every kind of cell.
func heats() (xs, ys []string, maps []Heat) {
	all := curves()
	at := func(name string) *analysis.Curve { c := all[name]; return &c }
	return []string{"256", "1024", "uniform:100:900"}, []string{"32", "128"}, []Heat{
		{"no-stream=false", [][]*analysis.Curve{{at("coincident"), at("left"), at("still_rising")}, {at("right"), at("retrograde"), nil}}},
		{"no-stream=true", [][]*analysis.Curve{{at("right"), at("empty"), at("left")}, {at("not_finite"), at("none_valid"), at("one_level")}}},
	}
}

func TestHeatMap(t *testing.T) {
	xs, ys, maps := heats()
	for name, some := range map[string][]Heat{"heat_one": maps[:1], "heat_two": maps, "heat_nothing": {{"", [][]*analysis.Curve{{nil, nil, nil}, {nil, nil, nil}}}}} {
		f, err := HeatMap("input-tokens", xs, "output-tokens", ys, some)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range Formats() {
			var b bytes.Buffer
			if err := f.write(&b, format, dpi()); err != nil {
				t.Fatal(err)
			}
			switch format {
			case "png":
				keep(t, name, b.Bytes())
			case "svg":
				for _, want := range []string{"Knee over input-tokens and output-tokens", "uniform:100:900", "not measured"} {
					if !strings.Contains(b.String(), want) {
						t.Errorf("%s: %q is not said", name, want)
					}
				}
			}
		}
	}
	for _, bad := range [][]Heat{nil, {{"", [][]*analysis.Curve{{nil, nil, nil}}}}, {{"", [][]*analysis.Curve{{nil}, {nil}}}}} {
		if _, err := HeatMap("x", xs, "y", ys, bad); err == nil {
			t.Errorf("%v is drawn", bad)
		}
	}
}
