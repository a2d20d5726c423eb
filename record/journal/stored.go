package journal

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"kneesweep/load"
)

// Stored is the requests of a journal that stay in its file: only where each
// stands is in memory, 48 bytes a request. It is not safe for concurrent use.
type Stored struct {
	file  io.ReaderAt
	lines []stored // by sent, then id
	tally load.Tally
	buf   []byte
	err   error
}

// stored is the line of a request.
type stored struct {
	sent, end time.Duration
	id        int64
	at        int64 // first byte in the file
	bytes     int32
	visit     int32
}

// Index reads a journal as [Read] does and leaves its requests in the file, which
// must stay as it is while they are used. Every line is checked.
func Index(file io.ReaderAt, size int64) (Content, *Stored, error) {
	s := &Stored{file: file}
	c, err := scan(io.NewSectionReader(file, 0, size), func(run *load.Run, m *load.Sample, at int64, bytes int) {
		s.lines = append(s.lines, stored{m.Sent, m.End, m.ID, at, int32(bytes), int32(m.Visit)})
		s.tally.Add(m, run.Request.InputTokensAsked)
	})
	slices.SortStableFunc(s.lines, func(a, b stored) int {
		return cmp.Or(cmp.Compare(a.sent, b.sent), cmp.Compare(a.id, b.id))
	})
	return c, s, err
}

// Err returns the first error of reading the file again.
func (s *Stored) Err() error { return s.err }

// Tally sums up all requests.
func (s *Stored) Tally() load.Tally { return s.tally }

// Overlapping reads the requests that overlap a span or belong to a visit. After
// an error, which Err returns, it reads no more.
func (s *Stored) Overlapping(spans []load.Span, visits []int) []*load.Sample {
	var out []*load.Sample
	for i := range s.lines {
		l := &s.lines[i]
		overlaps := func(span load.Span) bool { return l.sent < span.To && l.end >= span.From }
		if !slices.Contains(visits, int(l.visit)) && !slices.ContainsFunc(spans, overlaps) {
			continue
		}
		if m := s.read(l); m != nil {
			out = append(out, m)
		}
	}
	return out
}

// Each reads every request.
func (s *Stored) Each(f func(*load.Sample)) {
	for i := range s.lines {
		if m := s.read(&s.lines[i]); m != nil {
			f(m)
		}
	}
}

// read reads a line again; nil after an error.
func (s *Stored) read(at *stored) *load.Sample {
	if s.err != nil {
		return nil
	}
	s.buf = slices.Grow(s.buf[:0], int(at.bytes))[:at.bytes]
	if _, err := s.file.ReadAt(s.buf, at.at); err != nil {
		s.err = fmt.Errorf("request %d: %w", at.id, err)
		return nil
	}
	l, err := parse(s.buf, 0)
	if err == nil && (l.Sample == nil || l.Sample.ID != at.id) {
		err = fmt.Errorf("request %d is no longer where it was; leave the journal as it is while it is read", at.id)
	}
	if err != nil {
		s.err = err
		return nil
	}
	m, err := l.Sample.sample()
	if err != nil {
		s.err = err
		return nil
	}
	return &m
}
