package plots

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WeekCell is one hour of one weekday: the median of a figure over the runs that began
// in it.
type WeekCell struct {
	Runs  int // 0 = none, and no value
	Value float64
}

// Week is a figure by weekday, Monday first, and hour of the day.
type Week [7][24]WeekCell

var weekdays = [7]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// WeekMap draws what a figure is at which time of the week, darker = more. Each cell says
// its value and, below, of how many runs; hours without a run are left white. title names the
// figure with its unit, subtitle what was measured and the time zone. It fails without a run.
func WeekMap(title, subtitle string, week Week) (*Figure, error) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, day := range week {
		for _, c := range day {
			if c.Runs > 0 {
				lo, hi = min(lo, c.Value), max(hi, c.Value)
			}
		}
	}
	if hi < lo {
		return nil, errors.New("plot: a week without runs")
	}
	w := &weekPage{title, subtitle, week, lo, hi}
	return &Figure{paint: w.paint}, nil
}

type weekPage struct {
	title, subtitle string
	week            Week
	lo, hi          float64
}

func (w *weekPage) paint(c *draw.Canvas) {
	at := vg.Point{X: c.Min.X + edge, Y: c.Max.Y - edge}
	c.FillText(words(titleSize, ink, true, draw.XLeft, draw.YTop), at, w.title)
	at.Y -= titleSize + 6
	plain := words(textSize, muted, false, draw.XLeft, draw.YTop)
	c.FillText(plain, at, fit(w.subtitle, plain, c.Max.X-c.Min.X-2*edge))
	at.Y -= subtitleLine
	c.FillText(plain, at, "Median of the runs that began in the hour, their number below; darker = more, white = no run")
	ticks := words(tickSize, ink, false, draw.XRight, draw.YCenter)
	left := edge + ticks.Width("Wed") + 8
	top := at.Y - subtitleLine - 12
	bottom := c.Min.Y + edge + 2*heatLabel + 4
	width, height := (c.Max.X-c.Min.X-left-edge)/24, (top-bottom)/7
	below := words(tickSize, ink, false, draw.XCenter, draw.YTop)
	for day, hours := range w.week {
		y := top - height*vg.Length(day+1)
		c.FillText(ticks, vg.Point{X: c.Min.X + left - 6, Y: y + height/2}, weekdays[day])
		for hour, cell := range hours {
			x := c.Min.X + left + width*vg.Length(hour)
			w.cell(c, cell, vg.Rectangle{Min: vg.Point{X: x + 0.5, Y: y + 0.5}, Max: vg.Point{X: x + width - 0.5, Y: y + height - 0.5}})
			if day == 6 {
				c.FillText(below, vg.Point{X: x + width/2, Y: y - 4}, strconv.Itoa(hour))
			}
		}
	}
	c.FillText(words(textSize, ink, false, draw.XCenter, draw.YTop), vg.Point{X: c.Min.X + left + 12*width, Y: bottom - 4 - heatLabel}, "Hour of the day")
}

func (w *weekPage) cell(c *draw.Canvas, cell WeekCell, box vg.Rectangle) {
	if cell.Runs == 0 {
		c.SetColor(grey2)
		c.SetLineWidth(0.5)
		c.Stroke(box.Path())
		return
	}
	share, text := 0.5, ink
	if w.hi > w.lo {
		share = (cell.Value - w.lo) / (w.hi - w.lo)
	}
	if share > 0.6 {
		text = white
	}
	c.SetColor(blend(blue1, blue, share))
	c.Fill(box.Path())
	middle := vg.Point{X: (box.Min.X + box.Max.X) / 2, Y: (box.Min.Y + box.Max.Y) / 2}
	c.FillText(words(tickSize, text, true, draw.XCenter, draw.YCenter), middle.Add(vg.Point{Y: 6}), compact(cell.Value))
	c.FillText(words(tickSize-2, text, false, draw.XCenter, draw.YCenter), middle.Add(vg.Point{Y: -8}), strconv.Itoa(cell.Runs))
}

// compact writes a value in at most four characters.
func compact(x float64) string {
	for _, u := range []struct {
		from float64
		unit string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if x >= u.from*0.9995 {
			x /= u.from
			if x < 9.95 {
				return fmt.Sprintf("%.1f%s", x, u.unit)
			}
			return fmt.Sprintf("%.0f%s", x, u.unit)
		}
	}
	switch {
	case x < 0.995:
		return fmt.Sprintf("%.2f", x)
	case x < 9.95:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}
