package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"kneesweep/load"
)

// Content is what a journal holds.
type Content struct {
	Run     load.Run
	Visits  []load.Visit
	Samples []load.Sample
	Server  []load.Server
	Open    []load.OpenPhase // by index, the last state of each
	Summary *load.Summary    // what the run came to, where the journal keeps no chunks

	// Missing says in plain words what a cut journal lost; empty = complete.
	Missing []string
}

// Looks reports whether the beginning of a file is that of a journal.
func Looks(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte(`{"run":{"schema":"`))
}

// Read reads a journal. A journal that was cut, because the process was killed
// or the disk was full, is read as far as it goes and Missing says what is not
// there. An error names the line and says what can be done.
func Read(r io.Reader) (Content, error) {
	var samples []load.Sample
	c, err := scan(r, func(_ *load.Run, s *load.Sample, _ int64, _ int) { samples = append(samples, *s) })
	c.Samples = samples
	return c, err
}

// scan reads a journal and hands on its requests, with the place and the length of
// their lines.
func scan(r io.Reader, request func(run *load.Run, s *load.Sample, at int64, bytes int)) (Content, error) {
	var c Content
	br := bufio.NewReaderSize(r, 1<<16)
	ended, inFlight := false, -1
	at := int64(0)
	for n := 1; ; n++ {
		text, err := br.ReadBytes('\n')
		from := at
		at += int64(len(text))
		if err != nil && !errors.Is(err, io.EOF) {
			return c, fmt.Errorf("line %d: %w", n, err)
		}
		cut := err != nil
		if len(bytes.TrimSpace(text)) > 0 {
			l, perr := parse(text, n)
			switch {
			case perr != nil && cut && n > 1:
				c.Missing = append(c.Missing, fmt.Sprintf("line %d is cut off after %d bytes", n, len(text)))
			case perr != nil:
				return c, perr
			default:
				if err := c.take(l, n, &ended, &inFlight); err != nil {
					return c, err
				}
				if l.Sample != nil {
					s, err := l.Sample.sample()
					if err != nil {
						return c, damaged(n, err)
					}
					request(&c.Run, &s, from, len(text))
				}
			}
		} else if n == 1 && cut {
			return c, damaged(n, errors.New("the journal is empty"))
		}
		if cut {
			break
		}
	}
	c.finish(ended, inFlight)
	return c, nil
}

func parse(text []byte, n int) (line, error) {
	var l line
	rest, chunks := cutChunks(text)
	if err := json.Unmarshal(rest, &l); err != nil {
		if chunks != "" { // say where, in the line as it stands
			err = json.Unmarshal(text, &l)
		}
		return l, damaged(n, plain(err))
	}
	if l.Sample != nil && chunks != "" {
		l.Sample.Chunks = chunks
	}
	if (n == 1) != (l.Run != nil) {
		if n == 1 {
			return l, damaged(n, errors.New("a journal begins with its run"))
		}
		return l, fmt.Errorf("line %d: a second run in one journal; keep one run a file: move this line and the lines after it to another", n)
	}
	return l, nil
}

var (
	sampleHead = []byte(`{"sample":{`)
	chunksHead = []byte(`"chunks":"`)
)

// cutChunks takes the packed chunks out of the line of a request: four fifths of a
// journal are text that a JSON decoder would look at three times. In a string of
// JSON the quotes of the key would be escaped, so the key is what it seems to be.
func cutChunks(text []byte) (rest []byte, chunks string) {
	if !bytes.HasPrefix(text, sampleHead) {
		return text, ""
	}
	at := bytes.Index(text, chunksHead)
	if at < 0 {
		return text, ""
	}
	from := at + len(chunksHead)
	length := bytes.IndexByte(text[from:], '"')
	if length < 0 || bytes.IndexByte(text[from:from+length], '\\') >= 0 {
		return text, ""
	}
	rest = make([]byte, 0, len(text)-length)
	rest = append(append(rest, text[:from]...), text[from+length:]...)
	return rest, string(text[from : from+length])
}

func (c *Content) take(l line, n int, ended *bool, inFlight *int) error {
	switch {
	case l.Run != nil:
		if err := checkSchema(l.Run.Schema); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		c.Run = l.Run.Run
	case l.Visit != nil:
		if err := checkVisit(l.Visit); err != nil {
			return damaged(n, err)
		}
		c.Visits = load.UpsertVisit(c.Visits, *l.Visit)
	case l.Beat != nil:
		*inFlight = l.Beat.InFlight
	case l.Server != nil:
		c.Server = append(c.Server, *l.Server)
	case l.Open != nil:
		if err := checkPhase(l.Open); err != nil {
			return damaged(n, err)
		}
		c.Open = load.UpsertPhase(c.Open, *l.Open)
	case l.Sum != nil:
		if err := checkSummary(l.Sum); err != nil {
			return damaged(n, err)
		}
		c.Summary = l.Sum
	case l.End != nil:
		*ended = true
		c.Run.Status, c.Run.StopReason = l.End.Status, l.End.StopReason
	}
	return nil
}

// damaged names line n and says how the run can still be read. Without its first
// line a journal is none; without its last ones it is a cut journal.
func damaged(n int, what error) error {
	if n == 1 {
		return fmt.Errorf("line 1: %w; the journal cannot be read without this line: read the run's curve.json, or copy the journal again", what)
	}
	return fmt.Errorf("line %d: %w; the line is damaged: delete it and the lines after it, or read the run's curve.json", n, what)
}

// plain says what encoding/json found without the words of Go.
func plain(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("not JSON at byte %d", syntax.Offset)
	case errors.As(err, &kind) && kind.Field == "":
		return errors.New("not a JSON object")
	case errors.As(err, &kind):
		field := strings.NewReplacer(".Run.", ".", ".Sample.", ".").Replace(kind.Field) // embedded structs are not in the JSON
		return fmt.Errorf("field %q at byte %d cannot be a JSON %s", field, kind.Offset, kind.Value)
	}
	return err
}

// finish marks what a run that did not end left open.
func (c *Content) finish(ended bool, inFlight int) {
	if ended {
		return
	}
	c.Run.Status, c.Run.StopReason = load.StatusInterrupted, "the journal has no end: the process was killed"
	text := "the run was not finished"
	if inFlight >= 0 {
		text += fmt.Sprintf("; about %d requests were in flight and are lost", inFlight)
	}
	c.Missing = append(c.Missing, text)
	switch {
	case c.Summary != nil:
	case c.Run.Settings.Journal == load.KeepRequests:
		c.Missing = append(c.Missing, "it was to keep requests without the arrivals of their tokens, and the levels were not summed up yet: "+
			"tokens are spread evenly between the first and the last of a request")
	case c.Run.Settings.Journal == load.KeepNone:
		c.Missing = append(c.Missing, "it was to keep levels only, and they were not summed up yet: nothing is left to analyse")
	}
	for i := range c.Visits {
		if v := &c.Visits[i]; v.Ended == load.EndedRunning {
			c.Missing = append(c.Missing, fmt.Sprintf("the visit of %d streams has %d of %d windows",
				v.Level.Concurrency, len(v.Windows), v.Level.Windows))
		}
	}
}
