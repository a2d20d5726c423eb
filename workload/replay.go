package workload

import (
	"fmt"
	"time"

	"kneesweep/load"
)

// Replay asks what a trace asked, request by request: the prompt of sequence number i
// has the lengths of the i-th arrival. Lengths that the trace does not tell are those of
// Synthetic, as are all of the preflight. It is safe for concurrent use.
type Replay struct {
	Synthetic
	Trace *Trace
}

var _ Prompts = Replay{}

// Prompt returns the prompt of a key.
func (r Replay) Prompt(k Key) load.Prompt {
	s := r.Synthetic
	if k.Seq >= 0 && k.Seq < len(r.Trace.Arrivals) {
		a := r.Trace.Arrivals[k.Seq]
		if _, drawn := s.Input.(*Rows); drawn && a.Input > 0 {
			s.Input = Fixed(a.Input)
		}
		if _, drawn := s.Output.(*Rows); drawn && a.Output > 0 {
			s.Output = Fixed(a.Output)
		}
	}
	return s.Prompt(k)
}

// Describe says what is asked.
func (r Replay) Describe() load.RequestShape {
	d := r.Synthetic.Describe()
	d.Source += ", replayed in order"
	return d
}

// Times returns when the requests came, from the first on and ascending; an error says
// that the trace does not tell, or that all came at once.
func (t *Trace) Times() ([]time.Duration, error) {
	if !t.has[fieldTime] {
		return nil, fmt.Errorf("%s: no column with the times of requests; %s", t.name, wantedTrace)
	}
	times := make([]time.Duration, len(t.Arrivals))
	for i, a := range t.Arrivals {
		times[i] = a.At
	}
	if times[len(times)-1] == 0 {
		return nil, fmt.Errorf("%s: all requests came at one time, so there is no rate; give two or more times", t.name)
	}
	return times, nil
}
