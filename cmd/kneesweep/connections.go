package main

import (
	"fmt"
	"time"

	"kneesweep/load"
)

// checkConnections refuses more streams than this machine can have connections to
// one address.
func checkConnections(streams, perStream int) error {
	if err := checkDescriptors(streams, perStream); err != nil {
		return err
	}
	if ports, ok := localPorts(); ok {
		return portsFor(streams, ports)
	}
	return nil
}

func portsFor(streams, ports int) error {
	if streams <= ports {
		return nil
	}
	return fmt.Errorf("--levels: %d streams to one address need as many local ports and there are %d; stay at or below that, or widen net.ipv4.ip_local_port_range",
		streams, ports)
}

const (
	timeWait = 60 * time.Second // for which a closed connection may keep its port
	// costPerEvent is the CPU time that an event takes with a few hundred streams, rather
	// too much than too little (docs/bench.md).
	costPerEvent = 20 * time.Microsecond
	cpuShare     = 0.9 // of the cores, above which a step is not valid
)

// foresight says what this machine may not hold of the levels up to highest, by the
// first answer: if the endpoint were as fast with all streams as with that one. On an
// endpoint that slows down it errs on the safe side.
func foresight(first *load.Sample, highest, cores int, newConnection bool) (hints []string) {
	if n := len(first.Chunks); n > 1 {
		gap := (first.Chunks[n-1].At - first.Chunks[0].At) / time.Duration(n-1)
		if gap > 0 {
			events := float64(highest) / gap.Seconds()
			if need := events * costPerEvent.Seconds(); need > cpuShare*float64(cores) {
				hints = append(hints, fmt.Sprintf("%d streams as fast as the first (%v between chunks) would be %.0f chunks/s, about %.1f cores for the client, and it has %d: "+
					"levels that it cannot hold will be marked; kneesweep ceiling says what this machine holds", highest, gap.Round(10*time.Microsecond), events, need, cores))
			}
		}
	}
	ports, ok := localPorts()
	if newConnection && ok && first.E2E() > 0 {
		if h := portHint(first.E2E(), highest, ports); h != "" {
			hints = append(hints, h)
		}
	}
	return hints
}

// portHint says whether connections that are closed after each request may use up the
// local ports: each keeps its own for a minute.
func portHint(e2e time.Duration, highest, ports int) string {
	need := float64(highest) * (1 + timeWait.Seconds()/e2e.Seconds())
	if need <= float64(ports) {
		return ""
	}
	return fmt.Sprintf("--new-connection: %d streams as fast as the first request would use up %.0f local ports within a minute and there are %d: "+
		"do without it, use fewer streams, or widen net.ipv4.ip_local_port_range", highest, need, ports)
}
