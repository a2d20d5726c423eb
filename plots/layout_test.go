package plots

import (
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// newTestPage lays a curve out without drawing it.
func newTestPage(name string) *page {
	c := draw.NewCanvas(new(recorder.Canvas), figureWidth, figureHeight)
	g := capacityPage(curves()[name], AxisAuto)
	g.arrange(&c)
	return g
}

// TestLabelsNeverOverlap checks the lanes and the ticks of every curve.
func TestLabelsNeverOverlap(t *testing.T) {
	for name := range curves() {
		g := newTestPage(name)
		checkLanes(t, name, g)
		style := words(tickSize, ink, false, draw.XLeft, draw.YCenter)
		end := vg.Length(-1)
		for _, k := range g.panels[0].xTicks {
			if k.label == "" {
				continue
			}
			if from := g.panels[0].x.at(k.value) - style.Width(k.label)/2; from < end {
				t.Errorf("%s: the label of level %v overlaps the one before", name, k.value)
			}
			end = g.panels[0].x.at(k.value) + style.Width(k.label)/2
		}
	}
}

func checkLanes(t *testing.T, name string, g *page) {
	t.Helper()
	for _, l := range []lane{g.above, g.below} {
		for i, a := range l.labels {
			if a.left < g.panels[0].x.from || a.left+a.width() > g.canvas.Max.X-edge+0.01 {
				t.Errorf("%s: label %q leaves the page", name, a.text)
			}
			for _, b := range l.labels[:i] {
				if a.row == b.row && a.left < b.left+b.width() && b.left < a.left+a.width() {
					t.Errorf("%s: labels %q and %q overlap", name, a.text, b.text)
				}
			}
		}
	}
}

// TestPanelsAreAlignedAndApart checks the places of the panels of every curve.
func TestPanelsAreAlignedAndApart(t *testing.T) {
	for name := range curves() {
		g := newTestPage(name)
		for i, p := range g.panels {
			if p.x != g.panels[0].x {
				t.Errorf("%s: panel %d has another axis of streams", name, i)
			}
			if p.y.to-p.y.from < 50 {
				t.Errorf("%s: panel %d is only %v high", name, i, p.y.to-p.y.from)
			}
			if i > 0 && p.y.to+headingHeight > g.panels[i-1].y.from {
				t.Errorf("%s: panel %d overlaps the one above", name, i)
			}
		}
		if last := g.panels[len(g.panels)-1]; last.y.from < edge+ticksHeight {
			t.Errorf("%s: no room for the axis title", name)
		}
	}
}

func TestTicksCoverARangeWithinOneDecade(t *testing.T) {
	for _, s := range []scale{{max: 1e-3}, {max: 1e6}, {max: 7}, {min: 2, max: 700, log: true}, {min: 1e-3, max: 1e6, log: true}} {
		labels := 0
		for _, k := range s.ticks(4) {
			if k.label != "" {
				labels++
			}
		}
		if labels < 2 || labels > 6 {
			t.Errorf("scale %+v has %d labels, want 2 to 6", s, labels)
		}
	}
}

func TestCapacityRefusesUnorderedLevels(t *testing.T) {
	c := curves()["coincident"]
	c.Steps[0], c.Steps[1] = c.Steps[1], c.Steps[0]
	if _, err := Capacity(c); err == nil {
		t.Error("no error for levels that are not ascending")
	}
	c.Steps[0].Concurrency = 0
	if _, err := Capacity(c); err == nil {
		t.Error("no error for a level of 0 streams")
	}
}

func TestWriteNamesAnUnknownFormat(t *testing.T) {
	f, err := Capacity(curves()["one_level"])
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(nil, "gif"); err == nil || err.Error() != `plot: unknown format "gif", want png, svg or pdf` {
		t.Errorf("error %v", err)
	}
}
