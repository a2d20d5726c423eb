package main

import (
	"fmt"
	"net"
	"time"

	"kneesweep/load"
	"kneesweep/sim"
)

// The embedded endpoint, for newcomers and demonstrations: small enough to be
// swept in less than a minute.
const (
	embeddedModel  = "sim"
	embeddedSlots  = 24
	embeddedOutput = 40
	embeddedStep   = 4 * time.Millisecond
	embeddedWindow = 300 * time.Millisecond
)

func embeddedConfig(seed uint64) sim.Config {
	return sim.Config{
		Model: embeddedModel, Slots: embeddedSlots, StepBase: embeddedStep, OutputTokens: embeddedOutput,
		Noise: 0.03, NoiseWindow: embeddedWindow, StepJitter: 0.05, Seed: seed,
	}
}

// startEmbedded serves the endpoint on a loopback socket.
func startEmbedded(cfg sim.Config) (url string, stop func(), err error) {
	e, err := sim.New(cfg)
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		e.Close()
		return "", nil, fmt.Errorf("embedded endpoint: %w", err)
	}
	stopServing := e.Serve(l)
	return "http://" + l.Addr().String() + "/v1", func() { stopServing(); e.Close() }, nil
}

// embeddedTruth is the answer that a sweep of the embedded endpoint should find.
func embeddedTruth(seed uint64, input, output int) *load.Truth {
	t := embeddedConfig(seed).Truth(input, output)
	return &t
}
