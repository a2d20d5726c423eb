package main

import (
	"context"
	"fmt"
	"sync/atomic"

	kneesweep "kneesweep/client"
	"kneesweep/load"
)

// ours asks with package client, as a sweep does.
func ours(t task) client {
	c, err := kneesweep.New(kneesweep.Config{
		URL: t.base, Model: "bench-model", Connections: t.streams, KeepText: t.stamps, Epoch: epoch,
	})
	if err != nil {
		panic(err)
	}
	var ids atomic.Int64
	return func(ctx context.Context, y *tally) error {
		s := send(ctx, c, load.Prompt{
			ID: ids.Add(1), OutputTokens: 128,
			Messages: []load.Message{{Role: "user", Content: "Count on."}},
		})
		y.Events += int64(len(s.Chunks))
		y.Coalesced += int64(s.Coalesced)
		if t.stamps && len(s.Chunks) > 0 {
			compare(y, s)
		}
		if s.Failed() { // at the end: canceled, with what had come
			return fmt.Errorf("%s: %s", s.Cause, s.Error)
		}
		return nil
	}
}

// send keeps the sample off the stack that the stream waits on, as a sweep does.
//
//go:noinline
func send(ctx context.Context, c *kneesweep.Client, p load.Prompt) *load.Sample {
	s := c.Send(ctx, p)
	return &s
}

// compare takes the errors of the chunks that share their stamp with no other.
func compare(y *tally, s *load.Sample) {
	size := len(s.Text) / len(s.Chunks)
	for i, c := range s.Chunks {
		shared := i > 0 && c.At == s.Chunks[i-1].At || i+1 < len(s.Chunks) && c.At == s.Chunks[i+1].At
		if !shared {
			y.errors = append(y.errors, begun+c.At-sentAt(s.Text[i*size:(i+1)*size]))
		}
	}
}
