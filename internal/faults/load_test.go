package faults_test

import (
	"testing"
	"time"

	"kneesweep/load"
)

// slow answers with one token after two seconds.
var slow = answer{serve: func(w *writer) {
	w.Header().Set("Content-Type", "text/event-stream")
	if w.until(1900 * time.Millisecond) {
		w.send(tokenFrame)
	}
	if w.until(2 * time.Second) {
		w.send(endFrames)
	}
}}

// No limit of a connection pool keeps a level from its streams (gpustack/gpustack#2324).
func TestAllStreamsAreInFlightAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("256 streams are slow under the race detector")
	}
	const n = 256
	p := one(n)
	p.window = 4 * time.Second
	r := measure(t, &p, func(*plan) func(int) answer { return share(1, slow) })
	r.checkAccount(t)
	v, s := r.data.Visits[0], r.step(t, n)
	if r.peak != n || r.peakAt-v.Started > time.Second {
		t.Errorf("%d in flight after %v, want %d within a second", r.peak, r.peakAt-v.Started, n)
	}
	if !s.Valid || s.InFlight.Peak != n || s.InFlight.Mean < 0.999*n {
		t.Errorf("valid %v (%s), in flight %+v", s.Valid, s.InvalidReason, s.InFlight)
	}
}

// Streams keep their connections, also when the body ends late (golang/go#16012).
func TestConnectionsAreKept(t *testing.T) {
	const n = 64
	late := answer{serve: func(w *writer) {
		good.serve(w)
		w.until(answerTakes + 50*time.Millisecond)
	}}
	p := one(n)
	p.window = 2 * time.Second
	r := measure(t, &p, func(*plan) func(int) answer { return share(1, late) })
	r.checkAccount(t)
	checkConnections(t, r, func(requests int) (lo, hi int) { return n, n })
	if s := r.step(t, n); !s.Valid && s.ErrorRate.V > 0 || s.ConnectionsOpened != 0 || s.ConnectionsReused < 10*n {
		t.Errorf("valid %v (%s), %d connections opened, %d reused", s.Valid, s.InvalidReason, s.ConnectionsOpened, s.ConnectionsReused)
	}
}

// With a new connection per request every replica behind a balancer is reached
// (vllm-project/vllm#34746).
func TestANewConnectionForEachRequest(t *testing.T) {
	const n = 4
	p := one(n)
	p.window = 2 * time.Second
	p.newConnection = true
	r := measure(t, &p, func(*plan) func(int) answer { return share(0, good) })
	r.checkAccount(t)
	// Those that the end of the sweep stopped may have none yet.
	checkConnections(t, r, func(requests int) (lo, hi int) { return requests - n, requests })
	if s := r.step(t, n); !s.Valid || s.ConnectionsReused != 0 || s.ConnectionsOpened < 10*n {
		t.Errorf("valid %v (%s), %d connections opened, %d reused", s.Valid, s.InvalidReason, s.ConnectionsOpened, s.ConnectionsReused)
	}
}

// checkConnections compares the connections made with the requests sent.
func checkConnections(t *testing.T, r result, want func(requests int) (lo, hi int)) {
	t.Helper()
	for i := range r.data.Samples {
		if s := &r.data.Samples[i]; s.Failed() && s.Cause != load.CauseCanceled {
			t.Errorf("sample %d: %s %s", s.ID, s.Cause, s.Error)
		}
	}
	requests := len(r.data.Samples)
	if lo, hi := want(requests); r.opened < lo || r.opened > hi || requests < 40 {
		t.Errorf("%d connections for %d requests, want %d to %d", r.opened, requests, lo, hi)
	}
}
