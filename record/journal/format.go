// Package journal keeps the raw account of a run: every request with the
// arrival of every chunk, every visit with its windows, one JSON object a line,
// appended as it happens. A journal is enough to repeat the analysis bit for
// bit. The format is described in docs/format.md.
package journal

import (
	"errors"
	"fmt"

	"kneesweep/load"
)

// Schema names the format in a journal's first line. It only grows within v1.
const Schema = "kneesweep/journal/v1"

// line is one line of a journal: exactly one field is set.
type line struct {
	Run    *runLine        `json:"run,omitempty"`
	Visit  *load.Visit     `json:"visit,omitempty"`
	Sample *sampleLine     `json:"sample,omitempty"`
	Beat   *load.Beat      `json:"beat,omitempty"`
	Server *load.Server    `json:"server,omitempty"`
	Open   *load.OpenPhase `json:"open,omitempty"`
	Sum    *load.Summary   `json:"summary,omitempty"`
	End    *endLine        `json:"end,omitempty"`
}

// runLine opens a journal.
type runLine struct {
	Schema string `json:"schema"`
	load.Run
}

// endLine closes a journal that was finished.
type endLine struct {
	Status     load.Status
	StopReason string
}

// sampleLine is a Sample with its chunks packed, or thinned out.
type sampleLine struct {
	load.Sample
	Chunks string `json:"chunks,omitempty"` // of pack; hides those of the Sample
	Thin   string `json:"thin,omitempty"`   // of thinOut
}

// newSampleLine keeps every chunk of an open loop, which no step sums up.
func newSampleLine(s *load.Sample, keep string) *sampleLine {
	out := &sampleLine{Sample: *s}
	if keep == load.KeepRequests && !s.Scheduled.OK {
		out.Thin = thinOut(s)
	} else {
		out.Chunks = pack(s)
	}
	out.Sample.Chunks = nil
	return out
}

func (l *sampleLine) sample() (load.Sample, error) {
	s := l.Sample
	if l.Thin != "" {
		t, err := thinIn(l.Thin)
		if err == nil {
			s.Chunks, err = t.even(s.Sent, s.ContentAt)
		}
		return s, err
	}
	chunks, err := unpack(l.Chunks, s.Sent)
	if errors.Is(err, errPacked) {
		err = errors.New(`the arrivals in "chunks" cannot be unpacked`)
	}
	if err == nil && (s.ContentAt < 0 || s.ContentAt > len(chunks)) {
		err = fmt.Errorf("the first content is chunk %d of %d", s.ContentAt, len(chunks))
	}
	s.Chunks = chunks
	return s, err
}

// checkVisit refuses what cannot have been measured.
func checkVisit(v *load.Visit) error {
	if v.Level.Concurrency < 1 {
		return fmt.Errorf("a visit of %d streams, where at least 1 is needed", v.Level.Concurrency)
	}
	for i, w := range v.Windows {
		if w.To <= w.From || i > 0 && w.From != v.Windows[i-1].To {
			return fmt.Errorf("window %d of the visit of %d streams is out of order", i+1, v.Level.Concurrency)
		}
	}
	return nil
}

// checkPhase refuses an open loop that cannot have been.
func checkPhase(p *load.OpenPhase) error {
	if p.Streams < 1 || p.Windows < 0 || p.Measured.To < p.Measured.From {
		return fmt.Errorf("an open loop of %d streams and %d windows", p.Streams, p.Windows)
	}
	return nil
}

// checkSummary refuses levels that are none, or that come twice.
func checkSummary(s *load.Summary) error {
	last := 0
	for i := range s.Steps {
		if n := s.Steps[i].Concurrency; n <= last {
			return fmt.Errorf("the summary has a level of %d streams after one of %d", n, last)
		}
		last = s.Steps[i].Concurrency
	}
	return nil
}

// checkSchema accepts this format and names what else it meets.
func checkSchema(got string) error {
	if got != Schema {
		return fmt.Errorf("its schema is %.60q; this version reads %q: use the version of kneesweep that wrote it", got, Schema)
	}
	return nil
}
