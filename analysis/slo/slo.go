// Package slo reads service level objectives: limits over percentiles of
// latencies and over the error rate, such as
//
//	ttft_p95<=500ms,tpot_p95<=50ms,error_rate<=1%
//
// It only knows the text; whether a level meets the limits is for the analysis,
// which has the requests.
package slo

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Figure is what a limit bounds.
type Figure string

// The figures that can be limited. All but the error rate are latencies.
const (
	TTFT      Figure = "ttft"
	TPOT      Figure = "tpot"
	ITL       Figure = "itl"
	E2E       Figure = "e2e"
	ErrorRate Figure = "error_rate"
)

// Figures names every figure as it is written, for errors and help.
const Figures = "ttft, tpot, itl or e2e with _p50, _p90, _p95 or _p99, or error_rate"

var (
	latencies   = []Figure{TTFT, TPOT, ITL, E2E}
	percentiles = []int{50, 90, 95, 99}
)

// Limit is one bound. Allowed is the share of requests (of gaps between tokens
// for ITL) that may lie above Max: 0.05 for a p95. For the error rate it is the
// share that may fail, and Max is 0.
type Limit struct {
	Figure     Figure
	Percentile int // 0 for the error rate
	Max        time.Duration
	Allowed    float64
}

// String is the limit in its one canonical form.
func (l Limit) String() string {
	if l.Figure == ErrorRate {
		return fmt.Sprintf("%s<=%s%%", l.Figure, strconv.FormatFloat(100*l.Allowed, 'g', 12, 64))
	}
	return fmt.Sprintf("%s<=%sms", l.name(), strconv.FormatFloat(float64(l.Max)/1e6, 'f', -1, 64))
}

// name is the figure with its percentile.
func (l Limit) name() string {
	if l.Figure == ErrorRate {
		return string(l.Figure)
	}
	return fmt.Sprintf("%s_p%d", l.Figure, l.Percentile)
}

// Limits are to hold together.
type Limits []Limit

// String is the limits in canonical form, which [Parse] reads back alike.
func (l Limits) String() string {
	parts := make([]string, len(l))
	for i := range l {
		parts[i] = l[i].String()
	}
	return strings.Join(parts, ",")
}

// Parse reads limits separated by commas; an empty text has none. Its error has
// one line for every part that is wrong, and says what would be right.
func Parse(text string) (Limits, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	var limits Limits
	var errs []error
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		l, err := parseLimit(part)
		if err == nil && slices.ContainsFunc(limits, func(o Limit) bool { return o.name() == l.name() }) {
			err = fmt.Errorf("a second limit on %s; keep one", l.name())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%q: %w", part, err))
			continue
		}
		limits = append(limits, l)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return limits, nil
}

func parseLimit(part string) (Limit, error) {
	if part == "" {
		return Limit{}, errors.New("an empty limit; write FIGURE<=VALUE, such as ttft_p95<=500ms")
	}
	figure, value, found := strings.Cut(part, "<=")
	if !found {
		return Limit{}, errors.New("no <=; write FIGURE<=VALUE, such as ttft_p95<=500ms")
	}
	l, err := parseFigure(strings.TrimSpace(figure))
	if err != nil {
		return l, err
	}
	value = strings.TrimSpace(value)
	if l.Figure == ErrorRate {
		l.Allowed, err = parseShare(value)
	} else {
		l.Max, err = parseTime(value)
	}
	return l, err
}

func parseFigure(name string) (Limit, error) {
	if name == string(ErrorRate) {
		return Limit{Figure: ErrorRate}, nil
	}
	for _, f := range latencies {
		for _, p := range percentiles {
			if l := (Limit{Figure: f, Percentile: p, Allowed: float64(100-p) / 100}); l.name() == name {
				return l, nil
			}
		}
	}
	return Limit{}, fmt.Errorf("no figure %q; limits are on %s", name, Figures)
}

// parseTime reads 500ms, 0.5s or 500; a number alone is milliseconds.
func parseTime(value string) (time.Duration, error) {
	text := value
	if ms, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(ms) && !math.IsInf(ms, 0) {
		text = strconv.FormatFloat(ms, 'f', -1, 64) + "ms"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q is not a positive time, such as 500ms or 0.5s", value)
	}
	return d, nil
}

// parseShare reads 1% or 0.01. No number of requests can show a rate of 0.
func parseShare(value string) (float64, error) {
	number, percent := strings.CutSuffix(value, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 1e-6 && v < 1) {
		return 0, fmt.Errorf("%q is not a share above 0 and below 1, such as 1%% or 0.01", value)
	}
	return v, nil
}
