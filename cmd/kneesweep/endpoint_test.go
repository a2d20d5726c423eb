package main

import (
	"net"
	"net/http"
	"testing"
	"time"

	"kneesweep/sim"
)

// served answers one request.
type served = http.HandlerFunc

// endpoint serves a fast simulated endpoint on the loopback, for the model "sim";
// choose picks what answers each request, given the simulation. It returns the
// address.
func endpoint(t *testing.T, choose func(next served) served) string {
	t.Helper()
	e, err := sim.New(sim.Config{Model: "sim", Slots: 16, StepBase: 2 * time.Millisecond, OutputTokens: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{ReadHeaderTimeout: time.Minute, Handler: served(func(w http.ResponseWriter, r *http.Request) {
		choose(e.ServeHTTP)(w, r)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close(); <-done; e.Close() })
	return "http://" + l.Addr().String() + "/v1"
}

// says answers with a status, a content type and a body.
func says(status int, contentType, body string) served {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}
