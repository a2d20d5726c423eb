package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"kneesweep/analysis"
	"kneesweep/analysis/stat"
	"kneesweep/load"
)

// service is how long requests take in one replica, by the number n of them in it.
// With n in it a request makes progress at the rate 1/first(n) until its first token
// and 1/rest(n) after it, so that one which meets n all the time takes the mean of
// the closed loop at n; w, how much longer than the mean a request takes, comes from
// the distributions of the nearest level.
type service struct {
	first, rest []float64 // mean seconds, by n; index 0 is not used
	most        int       // streams that it runs at once, else the highest level
	firstShape  shape
	restShape   shape
	tpotShape   shape
	tpot        float64 // mean TPOT over mean rest
	scatter     float64 // coefficient of variation of the speed, from window to window
	window      float64 // seconds; 0 = not known, and then the speed does not vary
	spread      float64 // half-width of the 95 % interval of times, as a fraction
	warnings    []load.Warning
}

// point is what a level says: with n requests in the replica they take so long.
type point struct {
	n       float64
	seconds float64
	weight  float64 // windows
}

// newService reads a curve. With n requests in it, X tokens/s, the mean of the windows,
// and answers of L tokens, a request takes n·L/X by Little's law: L is the mean of all
// levels, so that longer answers at one level by chance do not count as slower ones.
// Above the admission limit K the rest waits in front of the K that run, so n is K.
func newService(c analysis.Curve) (*service, error) {
	var whole, first []point
	var near []load.Step // levels that the replica runs without a queue
	s := &service{}
	length := answerLength(c.Steps)
	queue := math.Inf(1)
	if c.Admission.OK {
		queue = c.Admission.V.Value
	}
	for _, step := range c.Steps {
		n := float64(step.Concurrency)
		switch windows := float64(len(step.Measurements)); {
		case !step.Valid || slices.Contains(c.Knee.Outliers, step.Concurrency):
		case n > queue && completions(step, length) > 0:
			whole = append(whole, point{queue, queue / completions(step, length), windows})
		case n <= queue && step.E2E.Count > 0 && step.TTFT.Count > 0 && step.TTFT.Mean < step.E2E.Mean:
			t := step.E2E.Mean
			if x := completions(step, length); x > 0 && step.InFlight.OK {
				t = step.InFlight.Mean / x
			}
			whole = append(whole, point{n, t, windows})
			first = append(first, point{n, step.TTFT.Mean, windows})
			near = append(near, step)
		}
	}
	if len(near) == 0 {
		return nil, errors.New("the curve has no level with the times of whole requests (TTFT and E2E); give the journal or the curve.json of a sweep, or the result files of another tool that keeps them")
	}
	s.most = near[len(near)-1].Concurrency
	if c.Admission.OK {
		s.most = int(queue)
	}
	cv, last := pooledScatter(c.Steps), near[len(near)-1]
	s.means(whole, first, cv)
	s.spread = halfWidth(c.Steps, near, queue, cv)
	s.shapes(last)
	s.vary(longScatter(c.Steps, cv), last.Window.Seconds())
	if last.E2E.Count < enough {
		s.warnings = append(s.warnings, load.Warnf(load.WarnFewSamples, "%d requests at N = %d tell how much requests differ; %d would do",
			last.E2E.Count, last.Concurrency, enough))
	}
	return s, s.check()
}

// check refuses times that are none, which a file may hold.
func (s *service) check() error {
	for n := 1; n <= s.most; n++ {
		if t := s.first[n] + s.rest[n]; !(s.first[n] > 0 && s.rest[n] > 0) || math.IsInf(t, 0) {
			return fmt.Errorf("the curve's times at %d streams are no times (TTFT %g s of E2E %g s); analyze the journal of the run", n, s.first[n], t)
		}
	}
	return nil
}

// completions is how many requests/s a level completes, by its tokens and the mean
// length of all answers; 0 if it is not known.
func completions(s load.Step, length float64) float64 {
	if length > 0 && len(s.Measurements) > 0 {
		return stat.Mean(s.Measurements) / length
	}
	return s.Requests
}

// answerLength is the mean answer over all levels, in tokens; 0 if it is not known.
func answerLength(steps []load.Step) float64 {
	sum, n := 0.0, 0.0
	for _, s := range steps {
		if s.Valid && s.OutputLengthMean.OK && s.Finished > 0 {
			sum, n = sum+s.OutputLengthMean.V*float64(s.Finished), n+float64(s.Finished)
		}
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// enough requests bound a p95.
const enough = 59

// saturated is the rate at which a replica with all its streams in use completes
// requests.
func (s *service) saturated(streams int) float64 {
	return float64(streams) / (s.first[streams] + s.rest[streams])
}

// shortest is the least window in which the speed is drawn, as a share of a request.
const shortest = 0.05

// vary lets the speed change from window to window. Of windows much shorter than a
// request several make one, which scatters less.
func (s *service) vary(scatter, window float64) {
	if least := shortest * (s.first[s.most] + s.rest[s.most]); window > 0 && window < least {
		scatter *= math.Sqrt(window / least)
		window = least
	}
	s.scatter, s.window = scatter, window
}

// means fills in the times for every n from 1 to the most: whole requests on a
// straight line where one fits the levels as well as their scatter allows, else
// between them; the first token between its levels.
func (s *service) means(whole, first []point, cv float64) {
	at := between(whole)
	if a, b, ok := line(whole, cv); ok {
		at = func(n float64) float64 { return a + b*n }
	}
	firstAt := between(first)
	last := first[len(first)-1].n
	s.first, s.rest = make([]float64, s.most+1), make([]float64, s.most+1)
	for n := 1; n <= s.most; n++ {
		x := float64(n)
		t := firstAt(x)
		if x > last { // no level says, so it grows as the whole does
			t *= at(x) / at(last)
		}
		s.first[n] = min(t, 0.99*at(x))
		s.rest[n] = at(x) - s.first[n]
	}
}

// between interpolates on straight lines; points of one n are averaged. Outside it
// is constant.
func between(points []point) func(float64) float64 {
	var ns, ts []float64
	for i := 0; i < len(points); {
		sum, weight, n := 0.0, 0.0, points[i].n
		for ; i < len(points) && points[i].n == n; i++ {
			sum, weight = sum+points[i].seconds*points[i].weight, weight+points[i].weight
		}
		ns, ts = append(ns, n), append(ts, sum/weight)
	}
	return func(n float64) float64 {
		i, exact := slices.BinarySearch(ns, n)
		switch {
		case exact:
			return ts[i]
		case i == 0:
			return ts[0]
		case i == len(ns):
			return ts[i-1]
		}
		w := (n - ns[i-1]) / (ns[i] - ns[i-1])
		return (1-w)*ts[i-1] + w*ts[i]
	}
}

// line fits a + b·n to the points by least squares of the relative residuals. It is
// refused if it falls, if it is not positive, or if the residuals are larger than the
// scatter of windows explains at 99 %.
func line(points []point, cv float64) (a, b float64, ok bool) {
	var w, x, y, xx, xy float64
	for _, p := range points {
		k := p.weight / (p.seconds * p.seconds)
		w, x, y, xx, xy = w+k, x+k*p.n, y+k*p.seconds, xx+k*p.n*p.n, xy+k*p.n*p.seconds
	}
	det := w*xx - x*x
	if len(points) < 3 || det <= 1e-12*w*xx {
		return 0, 0, false
	}
	b = (w*xy - x*y) / det
	a = (y - b*x) / w
	chi := 0.0
	for _, p := range points {
		r := (a+b*p.n)/p.seconds - 1
		chi += p.weight * r * r / (cv * cv)
	}
	limit := distuv.ChiSquared{K: float64(len(points) - 2)}.Quantile(0.99)
	return a, b, b >= 0 && a+b*points[0].n > 0 && chi <= limit
}

// leastScatter is the least that windows are taken to scatter: clocks and step
// boundaries alone do so much.
const leastScatter = 0.005

// pooledScatter is the coefficient of variation of windows about their level.
func pooledScatter(steps []load.Step) float64 {
	var groups [][]float64
	for _, s := range steps {
		if s.Valid && len(s.Measurements) > 1 {
			groups = append(groups, s.Measurements)
		}
	}
	cv, ok := stat.PooledCV(groups)
	if !ok {
		return 0.10 // what endpoints commonly have
	}
	return max(cv, leastScatter)
}

// longScatter is the coefficient of variation of windows as it acts on a queue: with
// what neighbouring windows share, √(var + 2·cov₁), the first terms of the variance of
// a long sum. So it does not matter how windows lie across the changes of the
// endpoint's speed. It is at least cv.
func longScatter(steps []load.Step, cv float64) float64 {
	var shared, pairs float64
	for _, s := range steps {
		n := len(s.Measurements)
		if !s.Valid || n < 4 {
			continue
		}
		mean := stat.Mean(s.Measurements)
		for i := 1; i < n; i++ {
			shared += (s.Measurements[i]/mean - 1) * (s.Measurements[i-1]/mean - 1)
		}
		shared += cv * cv // the mean of the level takes so much away: 1/n of the variance, n − 1 times
		pairs += float64(n - 1)
	}
	if pairs == 0 {
		return cv
	}
	return math.Sqrt(cv*cv + 2*max(0, shared/pairs))
}

// halfWidth is the half-width of the 95 % interval of the mean times, as a fraction:
// that of the mean of the windows which tell them, the upper half of the levels that
// run without a queue and all above.
func halfWidth(steps, near []load.Step, queue, cv float64) float64 {
	windows := 0
	from := float64(near[len(near)/2].Concurrency)
	for _, s := range steps {
		if n := float64(s.Concurrency); s.Valid && n >= min(from, queue) {
			windows += len(s.Measurements)
		}
	}
	return min(0.5, 1.96*cv/math.Sqrt(float64(max(1, windows))))
}

// shapes takes the distributions from a level.
func (s *service) shapes(step load.Step) {
	s.firstShape, s.tpotShape = newShape(step.TTFT), newShape(step.TPOT)
	// What follows the first token varies as the whole does: it is most of it.
	s.restShape = newShape(step.E2E)
	if step.TPOT.Count > 0 && step.E2E.Mean > step.TTFT.Mean {
		s.tpot = step.TPOT.Mean / (step.E2E.Mean - step.TTFT.Mean)
	}
}
