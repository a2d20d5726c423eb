package plots

import (
	"bytes"
	"slices"
	"testing"

	"kneesweep/analysis"
)

func TestOverlay(t *testing.T) {
	all := curves()
	two := []analysis.Curve{all["coincident"], all["right"]}
	two[0].Run.Label, two[1].Run.Label = "before the upgrade", "after the upgrade"
	many := []analysis.Curve{}
	for _, name := range []string{"left", "retrograde", "failed", "still_rising", "throughput_only", "empty", "none_valid", "not_finite", "one_level"} {
		many = append(many, all[name])
	}
	for name, set := range map[string][]analysis.Curve{"overlay_two": two, "overlay_many": many} {
		f, err := Overlay(set, AxisAuto)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range Formats() {
			var b bytes.Buffer
			if err := f.write(&b, format, dpi()); err != nil {
				t.Fatal(err)
			}
			if format == "png" {
				keep(t, name, b.Bytes())
			}
		}
	}
	if _, err := Overlay(nil, AxisAuto); err == nil {
		t.Error("no error without a curve")
	}
	wrong := all["coincident"]
	slices.Reverse(wrong.Steps)
	if _, err := Overlay([]analysis.Curve{wrong, wrong}, AxisAuto); err == nil {
		t.Error("no error for levels that are not ascending")
	}
}

func TestOverlayNamesDiffer(t *testing.T) {
	a, b, c := analysis.Curve{}, analysis.Curve{}, analysis.Curve{}
	a.Run.Model, b.Run.Model = "m", "m"
	got := curveNames([]analysis.Curve{a, b, c})
	if want := []string{"m", "m (2)", "curve 3"}; !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
}
