package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sort"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/workload"
)

func atFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "at", Usage: "also say what the curve says of `N` streams between its levels, or of what --trace had in flight: p50, p95 or max"},
		&cli.StringFlag{Name: "trace", Usage: "recorded traffic of `FILE` for --at"},
		&cli.BoolFlag{Name: "skip-bad-lines", Usage: "leave lines of --trace out that cannot be used, and say how many"},
	}
}

// crowdFigures are the figures of what was in flight that --at can ask for.
var crowdFigures = map[string]func(workload.Crowd) int{
	"p50": func(c workload.Crowd) int { return c.P50 },
	"p95": func(c workload.Crowd) int { return c.P95 },
	"max": func(c workload.Crowd) int { return c.Max },
}

// atQuestion is what --at and --trace ask.
type atQuestion struct {
	asked bool
	n     int                      // 0 = of the trace
	of    func(workload.Crowd) int // which figure of it
	name  string
	trace *workload.Trace
	file  string
}

func newAtQuestion(c *cli.Context) (q atQuestion, err error) {
	if !c.IsSet("at") {
		if c.IsSet("trace") {
			return q, errors.New("--trace: works with --at, for example --at p95")
		}
		return q, nil
	}
	q.asked, q.name = true, c.String("at")
	if q.of = crowdFigures[q.name]; q.of == nil {
		if q.n, err = strconv.Atoi(q.name); err != nil || q.n < 1 {
			return q, fmt.Errorf("--at: %.40q is not a number of streams; give one of at least 1, or p50, p95 or max with --trace", q.name)
		}
		if c.IsSet("trace") {
			return q, errors.New("--at and --trace: with a trace give p50, p95 or max")
		}
		return q, nil
	}
	if !c.IsSet("trace") {
		return q, fmt.Errorf("--at: %s is of the requests in flight in a trace; give --trace FILE", q.name)
	}
	q.file = filepath.Base(c.String("trace"))
	if q.trace, err = readTrace(c, c.String("trace")); err != nil {
		return q, flagged("--trace", err)
	}
	return q, nil
}

// answer reads the curves where it is asked.
func (q atQuestion) answer(sources []source) error {
	if !q.asked {
		return nil
	}
	for i := range sources {
		s := &sources[i]
		n, why, err := q.streams(s.curve)
		if err != nil {
			return failed(fmt.Errorf("%s: --at: %w", s.path, err))
		}
		r, err := analysis.ReadAt(s.curve, s.data, n)
		if err != nil {
			return failed(fmt.Errorf("%s: --at: %w", s.path, err))
		}
		r.Why = why
		s.curve.At = &r
	}
	return nil
}

// streams is the number that is asked of a curve, and where it comes from.
func (q atQuestion) streams(c analysis.Curve) (n int, why string, err error) {
	if q.trace == nil {
		return q.n, "", nil
	}
	if crowd, ok := q.trace.InFlight(); ok {
		return q.of(crowd), fmt.Sprintf("the %s in flight in %s", q.name, q.file), nil
	}
	n, err = q.estimated(c)
	return n, fmt.Sprintf("the %s in flight in %s, estimated from its arrivals and answer lengths with TTFT + tokens · TPOT of the curve at as many streams", q.name, q.file), err
}

// estimated is the smallest number of streams at which requests as long as those of
// the trace take so long, by the medians of the curve, that no more than these are in
// flight. More streams never make the endpoint faster, so halving finds it.
func (q atQuestion) estimated(c analysis.Curve) (int, error) {
	if _, ok := q.trace.EstimatedInFlight(time.Second, time.Second); !ok {
		return 0, errors.New("the trace does not tell when requests came and how long their answers were; both are needed where it does not tell how long they took")
	}
	lowest, highest := 0, 0
	for _, s := range c.Steps {
		if s.Valid {
			if lowest == 0 {
				lowest = s.Concurrency
			}
			highest = s.Concurrency
		}
	}
	if lowest == 0 {
		return 0, errors.New("no valid level was measured")
	}
	var problem error
	inFlight := func(n int) int {
		r, err := analysis.ReadAt(c, nil, n)
		if err != nil || !r.TTFT.OK || !r.TPOT.OK {
			problem = fmt.Errorf("the trace does not tell how long requests took, and the curve has no TTFT and TPOT at %d streams to estimate it", n)
			return 0
		}
		crowd, _ := q.trace.EstimatedInFlight(seconds(r.TTFT), seconds(r.TPOT))
		return q.of(crowd)
	}
	n := lowest + sort.Search(highest-lowest+1, func(i int) bool { return inFlight(lowest+i) <= lowest+i })
	switch {
	case problem != nil:
		return 0, problem
	case n > highest:
		return 0, fmt.Errorf("more than %d requests would be in flight, the highest valid level; nothing is extrapolated", highest)
	case n == lowest:
		n = inFlight(lowest)
	}
	return n, problem
}

func seconds(e load.Opt[load.Estimate]) time.Duration {
	return time.Duration(e.V.Value * float64(time.Second))
}
