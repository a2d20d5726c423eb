package plan

import (
	"math"
	"math/rand/v2"
	"slices"

	"kneesweep/analysis/slo"
)

const (
	ramp    = 0.05  // share of the requests that come first and do not count
	crowded = 20000 // requests waiting from which on the queue has no end
)

// outcome is what a replica gave.
type outcome struct {
	limits slo.Limits
	n      int         // requests that count
	over   []int       // of them, above each limit
	values [][]float64 // seconds, for each limit
	waited int
	broken bool // the queue had no end
}

// kept reports whether every limit on a latency is.
func (o outcome) kept() bool { return !o.broken && o.excess(o.worstAt()) <= 0 }

// excess is how much larger the share above a limit is than it may be.
func (o outcome) excess(i int) float64 {
	if i < 0 {
		return 0
	}
	return float64(o.over[i])/float64(max(1, o.n)) - o.limits[i].Allowed
}

// worstAt is the limit that is missed most, relative to what may lie above it.
func (o outcome) worstAt() int {
	worst := -1
	for i, l := range o.limits {
		if l.Figure != slo.ErrorRate && (worst < 0 || o.excess(i)/l.Allowed > o.excess(worst)/o.limits[worst].Allowed) {
			worst = i
		}
	}
	return worst
}

// by names what is not kept.
func (o outcome) by() string {
	if i := o.worstAt(); !o.broken && i >= 0 {
		return o.limits[i].String()
	}
	return stability
}

// quantile is the percentile that a limit bounds.
func (o outcome) quantile(i int) float64 {
	if o.n == 0 {
		return math.NaN()
	}
	v := slices.Clone(o.values[i])
	slices.Sort(v)
	return v[min(len(v)-1, int(float64(len(v))*float64(o.limits[i].Percentile)/100))]
}

// job is a request.
type job struct {
	arrived float64
	first   float64 // when its first token came
	rest    float64 // what it has to do after that, 1 = the mean
	counts  bool
}

// simulate lets requests arrive at a rate (Poisson) in front of a replica of so many
// streams, first come, first served, with every time longer by a factor. All that is
// in it makes progress at one rate (processor sharing with a limit on those served,
// Kleinrock 1976, Queueing Systems 2), so who ends next is who has least left, and a
// heap over the progress made so far holds them. The speed is drawn anew every window,
// lognormal with the mean 1, as the windows of the curve scatter. The same arguments
// give the same outcome.
func (s *service) simulate(streams int, rate, slower float64, requests int, limits slo.Limits) outcome {
	const stream = 0x706c616e // "plan"
	gaps := exponential(requests, rand.New(rand.NewPCG(1, stream)))
	r := &replica{
		service: s, streams: streams, slower: slower, speed: 1, jobs: make([]job, requests),
		work: rand.New(rand.NewPCG(2, stream)), luck: rand.New(rand.NewPCG(3, stream)),
	}
	r.out = outcome{limits: limits, over: make([]int, len(limits)), values: make([][]float64, len(limits))}
	skip := int(ramp * float64(requests))
	next := gaps[0] / rate
	for i := 0; i < requests; {
		if what, at := r.nextEvent(); what != nothing && at <= next {
			r.step(what, at)
			continue
		}
		r.advance(next)
		r.jobs[i] = job{arrived: next, counts: i >= skip}
		if r.running() < streams {
			r.start(i)
		} else if r.queue = append(r.queue, i); len(r.queue)-r.head > crowded {
			r.out.broken = true
			break
		}
		if i++; i < requests {
			next += gaps[i] / rate
		}
	}
	return r.out
}

// exponential are n gaps with the mean of exactly 1, so that chance does not change
// the rate: near saturation the tail of the wait follows it closely.
func exponential(n int, rng *rand.Rand) []float64 {
	gaps, sum := make([]float64, n), 0.0
	for i := range gaps {
		gaps[i] = rng.ExpFloat64()
		sum += gaps[i]
	}
	for i := range gaps {
		gaps[i] *= float64(n) / sum
	}
	return gaps
}

// replica is one in the middle of a simulation.
type replica struct {
	*service
	streams int
	slower  float64
	work    *rand.Rand
	luck    *rand.Rand // of the speed
	speed   float64    // now, 1 on average
	until   float64    // when it changes
	jobs    []job
	out     outcome

	now        float64
	queue      []int // waiting, from head on
	head       int
	firsts     heap    // before their first token
	rests      heap    // after it
	firstClock float64 // progress of a request of each kind that was always there
	restClock  float64
}

func (r *replica) running() int { return len(r.firsts) + len(r.rests) }

// paces are the seconds that one unit of progress takes now.
func (r *replica) paces() (first, rest float64) {
	n := max(1, r.running())
	slower := r.slower / r.speed
	return r.first[n] * slower, r.rest[n] * slower
}

// event is what happens in a replica.
type event int

const (
	nothing event = iota
	change        // of the speed
	token         // the first of a request
	end           // of a request
)

// nextEvent is what comes next in it, and when; nothing while it is empty.
func (r *replica) nextEvent() (what event, at float64) {
	first, rest := r.paces()
	if r.running() > 0 && r.window > 0 {
		what, at = change, max(r.now, r.until)
	}
	if len(r.firsts) > 0 {
		if t := r.now + max(0, r.firsts[0].at-r.firstClock)*first; what == nothing || t < at {
			what, at = token, t
		}
	}
	if len(r.rests) > 0 {
		if t := r.now + max(0, r.rests[0].at-r.restClock)*rest; what == nothing || t < at {
			what, at = end, t
		}
	}
	return what, at
}

// advance lets time pass.
func (r *replica) advance(to float64) {
	first, rest := r.paces()
	r.firstClock += (to - r.now) / first
	r.restClock += (to - r.now) / rest
	r.now = to
}

// step lets an event happen at its time.
func (r *replica) step(what event, at float64) {
	r.advance(at)
	switch what {
	case change:
		r.speed = math.Exp(r.scatter*r.luck.NormFloat64() - r.scatter*r.scatter/2)
		r.until = r.now + r.window
	case token:
		i := r.firsts.pop()
		j := &r.jobs[i]
		j.first, j.rest = r.now, r.restShape.at(r.work.Float64())
		r.rests.push(r.restClock+j.rest, i)
	case end:
		r.end(r.rests.pop())
		if r.head < len(r.queue) {
			r.start(r.queue[r.head])
			r.head++
		}
	}
}

// start gives a request its stream.
func (r *replica) start(i int) {
	if j := &r.jobs[i]; j.counts && r.now > j.arrived {
		r.out.waited++
	}
	work := r.firstShape.at(r.work.Float64())
	if n := r.running(); n > 0 && r.now == r.jobs[i].arrived {
		// It came in the middle of a step of those that run, and joins the next one.
		work += r.work.Float64() * r.tpot * r.rest[n] / r.first[n]
	}
	r.firsts.push(r.firstClock+work, i)
}

// end counts a request.
func (r *replica) end(i int) {
	j := &r.jobs[i]
	if !j.counts {
		return
	}
	r.out.n++
	for k, l := range r.out.limits {
		var v float64
		switch l.Figure {
		case slo.TTFT:
			v = j.first - j.arrived
		case slo.E2E:
			v = r.now - j.arrived
		case slo.TPOT:
			v = (r.now - j.first) / max(j.rest, 1e-9) * r.tpot * r.tpotShape.at(r.work.Float64())
		default:
			continue
		}
		r.out.values[k] = append(r.out.values[k], v)
		if v > l.Max.Seconds() {
			r.out.over[k]++
		}
	}
}
