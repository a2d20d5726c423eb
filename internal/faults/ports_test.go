package faults_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
)

// A machine without local ports is not an endpoint at its limit: the level is not
// valid, its reason is the client with what to do, and no knee comes of it.
func TestNoLocalPortIsNoSaturation(t *testing.T) {
	const ports = 10
	p := one(1)
	p.grid.Levels, p.window, p.newConnection = []int{1, 2, 4, 6, 8, 16, 32}, 2*time.Second, true
	p.before = func(e *endpoint) { e.ports.Store(ports) }
	r := measure(t, &p, func(*plan) func(int) answer { return share(0, good) })
	for _, s := range r.curve.Steps {
		if s.Concurrency <= ports {
			if !s.Valid || s.Client.V.Bound {
				t.Errorf("N = %d: %s", s.Concurrency, s.InvalidReason)
			}
			continue
		}
		c := s.Client.V
		if s.Valid || !c.Bound || !strings.Contains(c.Reason, "no local port is left for a connection to that address: do without --new-connection") ||
			s.Failures[string(load.CauseClient)] != s.Failed || !slices.ContainsFunc(s.Warnings, func(w load.Warning) bool { return w.Code == load.WarnClientBound }) {
			t.Errorf("N = %d: valid %v, %+v, failures %v, %+v", s.Concurrency, s.Valid, c, s.Failures, s.Warnings)
		}
	}
	if cause := r.curve.Cause; cause != nil && cause.Name != analysis.CauseClient {
		t.Errorf("cause %+v", cause)
	}
	if k := r.curve.Knee; k.Concurrency.OK {
		t.Errorf("a knee at %+v", k.Concurrency)
	}
}
