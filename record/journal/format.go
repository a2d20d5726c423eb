// Package journal keeps the raw account of a run: every request with the
// arrival of every chunk, every visit with its windows, one JSON object a line,
// appended as it happens. A journal is enough to repeat the analysis bit for
// bit. The format is described in docs/format.md.
package journal

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"kneesweep/load"
)

// Schema names the format in a journal's first line. It only grows within v1.
const Schema = "kneesweep/journal/v1"

// line is one line of a journal: exactly one field is set.
type line struct {
	Run    *runLine    `json:"run,omitempty"`
	Visit  *load.Visit `json:"visit,omitempty"`
	Sample *sampleLine `json:"sample,omitempty"`
	Beat   *load.Beat  `json:"beat,omitempty"`
	End    *endLine    `json:"end,omitempty"`
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

// sampleLine is a Sample with its chunks packed.
type sampleLine struct {
	load.Sample
	Chunks string `json:"chunks,omitempty"` // base64 of pack
}

func newSampleLine(s *load.Sample) *sampleLine {
	out := &sampleLine{Sample: *s, Chunks: pack(s)}
	out.Sample.Chunks = nil
	return out
}

func (l *sampleLine) sample() (load.Sample, error) {
	s := l.Sample
	chunks, err := unpack(l.Chunks, s.Sent)
	s.Chunks = chunks
	return s, err
}

// pack writes the arrivals as varints: first the time from Sent to the first
// chunk, then the gaps, in nanoseconds; each followed by the chunk's own token
// count when any chunk has one. A leading byte says which.
func pack(s *load.Sample) string {
	if len(s.Chunks) == 0 {
		return ""
	}
	counted := byte(0)
	for i := range s.Chunks {
		if s.Chunks[i].Tokens != 0 {
			counted = 1
		}
	}
	b := make([]byte, 1, 1+5*len(s.Chunks))
	b[0] = counted
	last := s.Sent
	for _, c := range s.Chunks {
		b = binary.AppendVarint(b, int64(c.At-last))
		last = c.At
		if counted == 1 {
			b = binary.AppendVarint(b, int64(c.Tokens))
		}
	}
	return base64.StdEncoding.EncodeToString(b)
}

var errPacked = errors.New("packed chunks are damaged")

func unpack(text string, sent time.Duration) ([]load.Chunk, error) {
	if text == "" {
		return nil, nil
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) == 0 || b[0] > 1 {
		return nil, errPacked
	}
	counted := b[0] == 1
	b = b[1:]
	chunks := make([]load.Chunk, 0, len(b)/3)
	last := sent
	for len(b) > 0 {
		gap, n := binary.Varint(b)
		if n <= 0 {
			return nil, errPacked
		}
		b = b[n:]
		last += time.Duration(gap)
		c := load.Chunk{At: last}
		if counted {
			tokens, n := binary.Varint(b)
			if n <= 0 || tokens < 0 || tokens > 1<<30 {
				return nil, errPacked
			}
			b = b[n:]
			c.Tokens = int32(tokens)
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

// checkSchema accepts this format and names what else it meets.
func checkSchema(got string) error {
	if got != Schema {
		return fmt.Errorf("its schema is %q; this version reads %q", got, Schema)
	}
	return nil
}
