package ceiling

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"kneesweep/load"
)

func held() Level {
	return Level{Streams: 100, Asked: 5000, Sent: 5000, Events: 4990, InFlight: 99.9, Error: load.Dist{P50: 3e-6, P99: 1e-5, Count: 1000}, ErrorMax: 4e-4, CPUPerEvent: load.Some(2e-5)}
}

// Each limit by itself, and what just holds.
func TestLimits(t *testing.T) {
	shape := Shape{Interval: 20 * time.Millisecond, Tokens: 128}
	measured := load.Visit{Windows: make([]load.Span, windows)}
	tests := []struct {
		name   string
		change func(l *Level, v *load.Visit)
		want   string // "" = holds
	}{
		{"all well", func(*Level, *load.Visit) {}, ""},
		{"nothing measured", func(_ *Level, v *load.Visit) { v.Windows = nil }, "not every stream had its first answer"},
		{"cut", func(_ *Level, v *load.Visit) { v.Ended = load.EndedInterrupted }, "it took too long"},
		{"a failure", func(l *Level, _ *load.Visit) { l.Failed = 1 }, "1 requests failed"},
		{"load just held", func(l *Level, _ *load.Visit) { l.InFlight = 95 }, ""},
		{"load not held", func(l *Level, _ *load.Visit) { l.InFlight = 94 }, "94 streams in flight"},
		{"rate just held", func(l *Level, _ *load.Visit) { l.Events = 4750 }, ""},
		{"rate not held", func(l *Level, _ *load.Visit) { l.Events = 4749 }, "4749 events/s arrived of 5000 that were sent"},
		{"source just well", func(l *Level, _ *load.Visit) { l.Sent, l.Events = 4000, 4000 }, ""},
		{"source late", func(l *Level, _ *load.Visit) { l.Sent, l.Events = 3999, 3999 }, "the source beside it sent 3999 events/s of 5000"},
		{"stamps just right", func(l *Level, _ *load.Visit) { l.Error.P99 = 0.001 }, ""},
		{"stamps wrong", func(l *Level, _ *load.Visit) { l.Error.P99 = 0.0011 }, "stamps wrong by 1.1 ms (p99), 1 allowed"},
		{"no stamps", func(l *Level, _ *load.Visit) { l.Error = load.Dist{} }, "no stamp"},
		{"client bound", func(l *Level, _ *load.Visit) { l.Client = load.ClientHealth{Bound: true, Reason: "why"} }, "why"},
	}
	for _, test := range tests {
		l, v := held(), measured
		test.change(&l, &v)
		l.Limits = l.judge(v, shape)
		if got := strings.Join(l.Limits, "; "); l.Holds() != (test.want == "") || !strings.Contains(got, test.want) || len(l.Limits) > 1 {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestLargest(t *testing.T) {
	no := []string{"no"}
	for _, c := range []struct {
		levels []Level
		want   int
		over   bool
	}{
		{nil, 0, false},
		{[]Level{{Streams: 1}, {Streams: 10}}, 10, false},
		{[]Level{{Streams: 1}, {Streams: 10, Limits: no}}, 1, false},
		{[]Level{{Streams: 1}, {Streams: 10, Limits: no}, {Streams: 100}}, 100, false},
		{[]Level{{Streams: 1}, {Streams: 10, Limits: no}, {Streams: 100, Limits: no}}, 1, true},
	} {
		if got := Largest(c.levels); got != c.want || Over(c.levels) != c.over {
			t.Errorf("%+v: largest %d, over %v", c.levels, got, Over(c.levels))
		}
	}
}

// read takes events and errors inside the windows only.
func TestLevelReadsStamps(t *testing.T) {
	epoch := time.Unix(1_800_000_000, 0)
	second := time.Second
	visit := load.Visit{Level: load.Level{Concurrency: 1}, Windows: []load.Span{{From: second, To: 2 * second}}, Client: load.Process{CPU: 0.5, Cores: 2}}
	s := load.Sample{Sent: 0, End: 3 * second, OutputTokens: 3, TokenSource: load.SourceServer, Streaming: true}
	for i, at := range []time.Duration{500, 1500, 1900, 2500} {
		sent := at * time.Millisecond
		s.Chunks = append(s.Chunks, load.Chunk{At: sent + time.Duration(i)*time.Microsecond})
		f := newFrame()
		text := string(f.render(false, false)[f.stamp-f.event:][:stampDigits])
		if at, ok := stamp(text, 0); !ok || time.Since(at) > time.Minute {
			t.Fatalf("the frame has no stamp: %q", text)
		}
		s.Text += itoa(epoch.Add(sent).UnixNano())
	}
	var l Level
	l.read(visit, []load.Visit{visit}, []load.Sample{s}, epoch)
	if l.Events != 2 || l.Sent != 2 || l.Error.Count != 2 || math.Abs(l.Error.P50-1.5e-6) > 1e-12 || math.Abs(l.ErrorMax-2e-6) > 1e-12 || l.CPUPerEvent != load.Some(0.5) || l.InFlight != 1 {
		t.Errorf("%+v", l)
	}
}

func itoa(n int64) string { b, _ := json.Marshal(n); return string(b) }

// The account is strict JSON with every level, and a table that fits in words.
func TestAccount(t *testing.T) {
	bad := Level{Streams: 1000, Asked: 50_000, Limits: []string{"it took too long"}}
	a := Account{Shape: Shape{Interval: 20 * time.Millisecond, Tokens: 128, Burst: true}, Levels: []Level{held(), bad}, Left: []int{10_000}}
	var b bytes.Buffer
	if err := a.JSON(&b); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	levels := doc["levels"].([]any)
	first, second := levels[0].(map[string]any), levels[1].(map[string]any)
	if doc["schema"] != Schema || doc["largest_concurrency"] != 100.0 || doc["mode"] != "burst" || len(doc["not_tried"].([]any)) != 1 ||
		first["holds"] != true || first["cpu_per_event_us"] != 20.0 || first["stamp_error_us"].(map[string]any)["p99"] != 10.0 ||
		second["holds"] != false || second["stamp_error_us"] != nil || second["cpu_per_event_us"] != nil {
		t.Errorf("%s", b.String())
	}
	b.Reset()
	if err := a.Table(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"20.0 µs", "holds 100 streams at 20ms", "N = 1000 does not hold: it took too long", "Not tried, since two lower levels do not hold: 10000", "Limits: no request fails"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestShape(t *testing.T) {
	if err := (Shape{Interval: time.Millisecond, Tokens: maxTokens}).Validate(); err != nil {
		t.Error(err)
	}
	for _, s := range []Shape{{Interval: 0, Tokens: 5}, {Interval: 2 * time.Second, Tokens: 5}, {Interval: time.Second, Tokens: 1}, {Interval: time.Second, Tokens: maxTokens + 1}} {
		if s.Validate() == nil {
			t.Errorf("%+v is accepted", s)
		}
	}
}
