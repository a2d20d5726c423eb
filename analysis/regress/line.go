package regress

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"kneesweep/analysis/stat"
)

// line is the model of one figure over a stretch of nights: a straight line in time,
// with a step at each night from which on a lasting change is known.
type line struct {
	days  []float64 // of the nights that have the figure
	night []int     // their numbers
	y     []float64
	steps []int // numbers of the nights from which on a step holds
	flat  bool  // the nights are too few to tell a slope
}

// newLine takes the nights of a series that count.
func newLine(s series, days []float64, skip map[int]bool, first int, steps []int) line {
	l := line{steps: steps}
	for i, y := range s.y {
		if !math.IsNaN(y) && !skip[first+i] {
			l.days, l.night, l.y = append(l.days, days[i]), append(l.night, first+i), append(l.y, y)
		}
	}
	return l
}

// effect is a coefficient of the line.
type effect struct {
	value, se float64
	df        int
}

// less is the one-sided probability of an effect as far below 0, or further, if it were 0.
func (e effect) less() float64 {
	two := stat.Student{DF: float64(e.df)}.TwoSided(e.value / e.se)
	if e.value < 0 {
		return two / 2
	}
	return 1 - two/2
}

// How many nights there must be beyond what the line needs: with a slope, and without.
const (
	leastFreedom = 5
	leastFlat    = 2
)

// step estimates what a step at a night adds, beside the known ones, by least squares.
// False: the nights cannot tell.
func (l line) step(from int) (effect, bool) {
	cols := append(l.columns(), l.column(from))
	if last := cols[len(cols)-1]; constant(last) || slices.ContainsFunc(cols[:len(cols)-1], func(c []float64) bool { return slices.Equal(c, last) }) {
		return effect{}, false
	}
	return l.fit(cols, len(cols)-1)
}

// slope estimates the drift per day.
func (l line) slope() (effect, bool) { return l.fit(l.columns(), 1) }

// columns are the constant, the time and the known steps that the nights can tell.
func (l line) columns() [][]float64 {
	ones := make([]float64, len(l.y))
	for i := range ones {
		ones[i] = 1
	}
	cols := [][]float64{ones}
	if !l.flat {
		cols = append(cols, l.days)
	}
	for _, s := range l.steps {
		c := l.column(s)
		if !constant(c) && !slices.ContainsFunc(cols, func(o []float64) bool { return slices.Equal(c, o) }) {
			cols = append(cols, c)
		}
	}
	return cols
}

// column is 1 from a night on.
func (l line) column(from int) []float64 {
	c := make([]float64, len(l.y))
	for i, n := range l.night {
		if n >= from {
			c[i] = 1
		}
	}
	return c
}

func constant(c []float64) bool { return len(c) == 0 || slices.Min(c) == slices.Max(c) }

// fit returns one coefficient of the least squares fit of y by the columns.
func (l line) fit(cols [][]float64, at int) (effect, bool) {
	n, k := len(l.y), len(cols)
	e := effect{df: n - k}
	if least := map[bool]int{true: leastFlat, false: leastFreedom}[l.flat]; e.df < least || constant(l.days) {
		return e, false
	}
	x := mat.NewDense(n, k, nil)
	for j, c := range cols {
		x.SetCol(j, c)
	}
	var qr mat.QR
	qr.Factorize(x)
	if qr.Cond() > 1e10 {
		return e, false
	}
	var beta mat.VecDense
	if qr.SolveVecTo(&beta, false, mat.NewVecDense(n, l.y)) != nil {
		return e, false
	}
	var fitted mat.VecDense
	fitted.MulVec(x, &beta)
	rss := 0.0
	for i, y := range l.y {
		rss += (y - fitted.AtVec(i)) * (y - fitted.AtVec(i))
	}
	var r mat.Dense
	qr.RTo(&r)
	// The variance of a coefficient is s² times the square of its row of R⁻¹.
	var inverse mat.Dense
	if inverse.Inverse(r.Slice(0, k, 0, k)) != nil {
		return e, false
	}
	row := inverse.RawRowView(at)
	sum := 0.0
	for _, v := range row {
		sum += v * v
	}
	e.value, e.se = beta.AtVec(at), math.Sqrt(rss/float64(e.df)*sum)
	return e, e.se > 0
}
