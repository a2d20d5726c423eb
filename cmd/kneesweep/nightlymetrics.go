package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"

	"kneesweep/record/prom"
)

// metricsKey is the key of a context with the metrics of all sweeps of a process.
type metricsKey struct{}

// remember adds metrics to those of the process, if it keeps them.
func remember(ctx context.Context, m *prom.Metrics) {
	if set, ok := ctx.Value(metricsKey{}).(*prom.Set); ok && set != nil {
		set.Put(m)
	}
}

// startMetrics serves the metrics of the sweeps of this process; nil without an address.
func startMetrics(addr string, stderr io.Writer) (set *prom.Set, stop func(), err error) {
	if addr == "" {
		return nil, func() {}, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, nil, fmt.Errorf("--metrics: %w", err)
	}
	set = &prom.Set{}
	u := &ui{} // for its guard
	address := "http://" + l.Addr().String() + "/metrics"
	if at, err := netip.ParseAddrPort(l.Addr().String()); err != nil || !at.Addr().Unmap().IsLoopback() {
		u.token = rand.Text()
		address += "?token=" + u.token
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", set.Handler())
	server := &http.Server{Handler: u.guard(mux), ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	go func() { _ = server.Serve(l) }() // ends with stop
	fmt.Fprintf(stderr, "metrics: %s\n", address)
	return set, func() { _ = server.Close() }, nil
}
