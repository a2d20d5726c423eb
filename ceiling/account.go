package ceiling

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"kneesweep/load"
)

// Schema names the JSON of an account. It only grows within v1.
const Schema = "kneesweep/ceiling/v1"

// Account is what a machine holds.
type Account struct {
	Shape  Shape
	Levels []Level // ascending
	Left   []int   // levels that were not tried
}

func (a *Account) mode() string {
	if a.Shape.Burst {
		return "burst"
	}
	return "spread"
}

// Table writes the account for a terminal. Its errors are those of w.
func (a *Account) Table(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "What this machine holds (%d cores for the client, %s/%s, %s): one token every %v to each stream, %s, %d tokens an answer\n\n",
		runtime.GOMAXPROCS(0), runtime.GOOS, runtime.GOARCH, runtime.Version(), a.Shape.Interval, a.mode(), a.Shape.Tokens)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "N\tevents/s\tof asked\tCPU/event\tstamp error p50\tp99\tmax\tshared stamps\tin flight\tmemory/stream\tfailed\tholds\t")
	for i := range a.Levels {
		l := &a.Levels[i]
		fmt.Fprintf(t, "%d\t%.0f\t%.0f %%\t%s\t%s\t%s\t%s\t%s\t%.4g\t%s\t%d\t%s\t\n", l.Streams, l.Events, 100*l.Events/l.Asked,
			known(l.CPUPerEvent, func(s float64) string { return fmt.Sprintf("%.1f µs", 1e6*s) }),
			l.stampError(l.Error.P50), l.stampError(l.Error.P99), l.stampError(l.ErrorMax),
			known(l.Client.Coalesced, func(s float64) string { return fmt.Sprintf("%.1f %%", 100*s) }), l.InFlight,
			known(l.BytesPerStream, func(n float64) string { return fmt.Sprintf("%.0f KiB", n/1024) }), l.Failed,
			map[bool]string{true: "yes", false: "no"}[l.Holds()])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	b.WriteByte('\n')
	for i := range a.Levels {
		for _, limit := range a.Levels[i].Limits {
			fmt.Fprintf(&b, "N = %d does not hold: %s\n", a.Levels[i].Streams, limit)
		}
	}
	if len(a.Left) > 0 {
		fmt.Fprintf(&b, "Not tried, since two lower levels do not hold: %s\n", strings.Trim(fmt.Sprint(a.Left), "[]"))
	}
	fmt.Fprintf(&b, "This machine holds %d streams at %v between tokens, the source beside the client.\nLimits: %s.\n", Largest(a.Levels), a.Shape.Interval, LimitsText)
	_, err := io.WriteString(w, b.String())
	return err
}

func known(v load.Opt[float64], write func(float64) string) string {
	if !v.OK {
		return "–"
	}
	return write(v.V)
}

func (l *Level) stampError(seconds float64) string {
	if l.Error.Count == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f µs", 1e6*seconds)
}

type accountJSON struct {
	Schema     string      `json:"schema"`
	Cores      int         `json:"cores"`
	System     string      `json:"system"`
	Go         string      `json:"go"`
	IntervalMS float64     `json:"interval_ms"`
	Tokens     int         `json:"tokens"`
	Mode       string      `json:"mode"`
	Levels     []levelJSON `json:"levels"`
	NotTried   []int       `json:"not_tried"`
	Largest    int         `json:"largest_concurrency"`
	Limits     string      `json:"limits"`
}

type levelJSON struct {
	Concurrency    int               `json:"concurrency"`
	Asked          float64           `json:"events_per_second_asked"`
	Sent           float64           `json:"events_per_second_sent"`
	Events         float64           `json:"events_per_second"`
	CPUPerEventUS  load.Opt[float64] `json:"cpu_per_event_us"`
	ErrorUS        *errorJSON        `json:"stamp_error_us"`
	CoalescedShare load.Opt[float64] `json:"coalesced_share"`
	LagP99MS       float64           `json:"lag_p99_ms"`
	CPU            float64           `json:"cpu"`
	InFlight       float64           `json:"in_flight"`
	BytesPerStream load.Opt[float64] `json:"bytes_per_stream"`
	Failed         int               `json:"failed"`
	Holds          bool              `json:"holds"`
	Limits         []string          `json:"limits_broken"`
}

type errorJSON struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
	Max float64 `json:"max"`
}

// JSON writes the account as one document. Its errors are those of w.
func (a *Account) JSON(w io.Writer) error {
	out := accountJSON{
		Schema: Schema, Cores: runtime.GOMAXPROCS(0), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		IntervalMS: a.Shape.Interval.Seconds() * 1e3, Tokens: a.Shape.Tokens, Mode: a.mode(),
		Levels: []levelJSON{}, NotTried: append([]int{}, a.Left...), Largest: Largest(a.Levels), Limits: LimitsText,
	}
	for i := range a.Levels {
		l := &a.Levels[i]
		j := levelJSON{
			Concurrency: l.Streams, Asked: l.Asked, Sent: l.Sent, Events: l.Events, CPUPerEventUS: l.CPUPerEvent, CoalescedShare: l.Client.Coalesced,
			LagP99MS: 1e3 * l.Client.LagP99, CPU: l.Client.CPU, InFlight: l.InFlight, BytesPerStream: l.BytesPerStream,
			Failed: l.Failed, Holds: l.Holds(), Limits: append([]string{}, l.Limits...),
		}
		j.CPUPerEventUS.V *= float64(time.Second / time.Microsecond)
		if l.Error.Count > 0 {
			j.ErrorUS = &errorJSON{1e6 * l.Error.P50, 1e6 * l.Error.P99, 1e6 * l.ErrorMax}
		}
		out.Levels = append(out.Levels, j)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}
