package main

import (
	"fmt"
	"math"
	"sync"
	"time"

	"kneesweep/analysis/cost"
	"kneesweep/load"
	"kneesweep/plots"
)

// moneyBudget bounds the money of a sweep; the zero moneyBudget bounds nothing.
// Tokens are paid when their request ends, and of each one in flight its prompt and
// half of an answer, so that what it ends with is what was spent. Time is paid as it
// passes. Its methods are safe for concurrent use.
type moneyBudget struct {
	limit  float64 // 0 = none
	prices load.Prices

	mu       sync.Mutex
	used     load.Used
	inFlight int
}

// over is the error that ends a sweep.
func (m *moneyBudget) over() error {
	return fmt.Errorf("the money budget of %s is spent", plots.Number(m.limit))
}

// paid is how long the limit lasts where time is paid, else 0.
func (m *moneyBudget) paid() time.Duration {
	hour := m.prices.PerHour()
	if m.limit == 0 || hour == 0 {
		return 0
	}
	return time.Duration(min(m.limit/hour*float64(time.Hour), math.MaxInt64/2))
}

// hold says how many requests are in flight from now on.
func (m *moneyBudget) hold(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inFlight = n
}

// pay counts a request that ended.
func (m *moneyBudget) pay(prompt, cached, output int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used.Requests++
	m.used.InputTokens += prompt
	m.used.CachedTokens += min(cached, prompt)
	m.used.OutputTokens += output
}

// share is what tokens took of the limit, as a fraction; least are the tokens of a
// prompt while no request has ended.
func (m *moneyBudget) share(least int) float64 {
	if m.limit == 0 || m.prices.Hour > 0 {
		return 0
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	u := m.used
	if n := u.Requests; n > 0 {
		u.InputTokens += m.inFlight * u.InputTokens / n
		u.CachedTokens += m.inFlight * u.CachedTokens / n
		u.OutputTokens += m.inFlight * u.OutputTokens / n / 2
	} else {
		u.InputTokens = m.inFlight * least
	}
	return cost.Spent(u, m.prices).V / m.limit
}
