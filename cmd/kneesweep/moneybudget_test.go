package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

// TestMoneyBudgetEndsASweep: a sweep goes over the money by what one window costs at
// most, and stops short of it by no more.
func TestMoneyBudgetEndsASweep(t *testing.T) {
	const (
		window        = time.Second
		input, output = 100, 20
		slots         = 24
		step          = 10 * time.Millisecond
	)
	perWindow := slots * window.Seconds() / (output * step.Seconds()) // requests, on the plateau
	byToken := load.Prices{Input: 2, Cached: 2, Output: 10}
	for _, c := range []struct {
		name   string
		money  float64
		prices load.Prices
		slack  float64 // what a window costs
	}{
		{"tokens", 0.5, byToken, perWindow * (input*2 + output*10) / 1e6},
		{"a little", 0.02, byToken, perWindow * (input*2 + output*10) / 1e6},
		{"hours", 0.1, load.Prices{Hour: 4, GPUs: 2, Duty: 1}, 8.0 / 3600},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &budget{time: time.Hour, tokens: 1 << 40, least: input, money: moneyBudget{limit: c.money, prices: c.prices}}
			samples, _, _, cause := exhaust(t, b, input, output, slots, step, window)
			run := load.Run{Request: load.RequestShape{InputTokensAsked: input}, Settings: load.Settings{Prices: c.prices}}
			spent := analysis.Analyze(analysis.Data{Run: run, Samples: samples}).Account.Spent.V
			t.Logf("spent %.4f of %v: %v", spent, c.money, cause)
			if cause == nil || !strings.HasPrefix(cause.Error(), "the money budget of ") {
				t.Errorf("ended by %v", cause)
			}
			if math.Abs(spent-c.money) > c.slack {
				t.Errorf("spent %v of %v, and a window costs %v", spent, c.money, c.slack)
			}
		})
	}
}
