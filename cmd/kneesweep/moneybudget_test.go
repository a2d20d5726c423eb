package main

import (
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/sim"
	"kneesweep/sweep"
	"kneesweep/workload"
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
			var mem sweep.Memory
			var cause error
			b := &budget{time: time.Hour, tokens: 1 << 40, least: input, money: moneyBudget{limit: c.money, prices: c.prices}}
			synctest.Test(t, func(t *testing.T) {
				e, err := sim.New(sim.Config{Slots: slots, StepBase: step, OutputTokens: output, StepJitter: 0.1, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				epoch := time.Now()
				e.SetEpoch(epoch)
				ctx, stop := b.start(t.Context())
				local, err := sweep.NewLocal(sweep.Config{
					Sender: e, Source: workload.Synthetic{InputTokens: input, OutputTokens: output, Seed: 1}, Sink: sweep.Tee(mem.Take, b.take),
					Epoch: epoch, Warmup: 5, Window: window, MaxErrorRate: 0.05, Seed: 1,
				})
				if err != nil {
					t.Fatal(err)
				}
				plan := levelPlan{levels: []int{256}, adaptive: true, precision: 1e-9, measurements: 10, passes: 2, seed: 1}
				if _, err = sweep.Run(ctx, local, plan.policy(b.spent, nil)); err != nil {
					t.Fatal(err)
				}
				cause = context.Cause(ctx)
				local.Close()
				stop()
				e.Close()
			})
			run := load.Run{Request: load.RequestShape{InputTokensAsked: input}, Settings: load.Settings{Prices: c.prices}}
			spent := analysis.Analyze(analysis.Data{Run: run, Visits: mem.Visits, Samples: mem.Samples}).Account.Spent.V
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
