package analysis

import (
	"kneesweep/load"
)

// Stored is the requests of a run that stay where they are kept, such as a file
// too large for memory. Samples come in order of Sent, then ID.
type Stored interface {
	// InputTokensGot is the mean prompt as the server counted it.
	InputTokensGot() load.Opt[float64]
	// Overlapping returns the samples that end in or after a span's From and were
	// sent before its To, and those that were sent during the visits of these
	// indices.
	Overlapping(spans []load.Span, visits []int) []*load.Sample
	// Each hands on every sample, which f must not keep.
	Each(f func(*load.Sample))
}

// requests are those of a run, in order of Sent, then ID.
type requests struct {
	order  []*load.Sample
	stored Stored // nil: order is all
}

func (d Data) requests() requests {
	if d.Stored != nil {
		return requests{stored: d.Stored}
	}
	return requests{order: inOrder(d.Samples)}
}

// of returns the requests that figures of visits may rest on: at least those that
// overlap them from the setting of the level on, and those sent during them.
func (r requests) of(visits []load.Visit) []*load.Sample {
	if r.stored == nil {
		return r.order
	}
	spans, indices := make([]load.Span, len(visits)), make([]int, len(visits))
	for i, v := range visits {
		span, ok := v.Span()
		if ok && v.Started > 0 {
			span.From = min(span.From, v.Started)
		}
		spans[i], indices[i] = span, v.Index
	}
	return r.stored.Overlapping(spans, indices)
}

// each hands on every request of the run.
func (r requests) each(f func(*load.Sample)) {
	if r.stored != nil {
		r.stored.Each(f)
		return
	}
	for _, s := range r.order {
		f(s)
	}
}

// promptTokensMean is the mean prompt as the server counted it.
func (d Data) promptTokensMean() load.Opt[float64] {
	if d.Stored != nil {
		return d.Stored.InputTokensGot()
	}
	sum, n := 0, 0
	for i := range d.Samples {
		if p := d.Samples[i].PromptTokens; p.OK {
			sum += p.V
			n++
		}
	}
	if n == 0 {
		return load.Opt[float64]{}
	}
	return load.Some(float64(sum) / float64(n))
}
