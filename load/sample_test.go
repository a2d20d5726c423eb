package load_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"kneesweep/load"
)

const ms = time.Millisecond

func chunks(at ...time.Duration) (out []load.Chunk) {
	for _, t := range at {
		out = append(out, load.Chunk{At: t})
	}
	return out
}

// The times of one request, by their definitions.
func TestTimesOfASample(t *testing.T) {
	s := load.Sample{Sent: 50 * ms, End: 1200 * ms, Chunks: chunks(150*ms, 250*ms, 650*ms), ContentAt: 3, OutputTokens: 13, HiddenTokens: 8}
	if s.TTFT() != load.Some(100*ms) || s.TTFC() != load.Some(600*ms) || s.E2E() != 1150*ms || s.FirstToken() != load.Some(150*ms) || s.LastToken() != load.Some(650*ms) {
		t.Errorf("TTFT %v, TTFC %v, E2E %v, first %v, last %v", s.TTFT(), s.TTFC(), s.E2E(), s.FirstToken(), s.LastToken())
	}
	if s.Streamed() != 5 || s.TPOT() != load.Some(0.125) || s.FirstTokens() != 1 {
		t.Errorf("n %d, TPOT %v, n1 %d; want (650 − 150)/(5 − 1)", s.Streamed(), s.TPOT(), s.FirstTokens())
	}
	if r := s.TokensPerChunk(); !r.OK || r.V != 5.0/3 {
		t.Errorf("tokens per chunk %v", r)
	}
	s.Chunks[0].Tokens = 3
	if s.TPOT() != load.Some(0.25) || s.Incremental() {
		t.Errorf("with three tokens in the first chunk TPOT is %v, incremental %v", s.TPOT(), s.Incremental())
	}
	s.Chunks[1].Tokens, s.Chunks[2].Tokens = 1, 1
	if !s.Incremental() {
		t.Error("three counted chunks are not incremental")
	}
}

// What is not there is undefined, and not 0.
func TestUndefinedTimes(t *testing.T) {
	for name, s := range map[string]load.Sample{
		"nothing":            {End: ms},
		"an answer at once":  {End: ms, OutputTokens: 5, TokenSource: load.SourceServer},
		"more hidden than n": {OutputTokens: 1, HiddenTokens: 3},
	} {
		if s.TTFT().OK || s.TTFC().OK || s.TPOT().OK || s.FirstToken().OK || s.LastToken().OK || s.TokensPerChunk().OK || s.Incremental() {
			t.Errorf("%s: something is defined", name)
		}
	}
	if burst := (&load.Sample{Chunks: chunks(ms), OutputTokens: 9}); burst.TPOT().OK {
		t.Errorf("nine tokens in one chunk: TPOT %v", burst.TPOT())
	}
	one := load.Sample{Chunks: chunks(ms), OutputTokens: 1}
	if one.TPOT().OK || !one.TTFT().OK || one.TTFC().OK {
		t.Errorf("one token: TPOT %v, TTFT %v, TTFC %v", one.TPOT(), one.TTFT(), one.TTFC())
	}
}

func TestOptInJSON(t *testing.T) {
	type pair struct {
		A, B load.Opt[float64]
		C    load.Opt[int] `json:",omitzero"`
	}
	in := pair{A: load.Some(0.0)}
	b, err := json.Marshal(in)
	if err != nil || string(b) != `{"A":0,"B":null}` {
		t.Errorf("%s, %v", b, err)
	}
	out := pair{B: load.Some(1.0)}
	if err := json.Unmarshal(b, &out); err != nil || out != in {
		t.Errorf("%+v, %v", out, err)
	}
}

// A later state of a visit takes the place of an earlier one.
func TestUpsertVisit(t *testing.T) {
	var list []load.Visit
	for _, v := range []load.Visit{{Index: 0}, {Index: 1, Starved: 1}, {Index: 0, Starved: 7}, {Index: 1, Starved: 2}, {Index: 2}} {
		list = load.UpsertVisit(list, v)
	}
	if want := []load.Visit{{Index: 0, Starved: 7}, {Index: 1, Starved: 2}, {Index: 2}}; !reflect.DeepEqual(list, want) {
		t.Errorf("%+v", list)
	}
}

func TestSpan(t *testing.T) {
	s := load.Span{From: 2 * ms, To: 5 * ms}
	if !s.Holds(2*ms) || s.Holds(5*ms) || s.Holds(2*ms-1) || s.Seconds() != 0.003 {
		t.Error("a span is not [from, to)")
	}
	v := load.Visit{Windows: []load.Span{{From: 1, To: 2}, {From: 2, To: 9}}}
	if got, ok := v.Span(); !ok || got != (load.Span{From: 1, To: 9}) {
		t.Errorf("the span of a visit is %v", got)
	}
	if _, ok := (&load.Visit{}).Span(); ok {
		t.Error("a visit without windows has a span")
	}
}
