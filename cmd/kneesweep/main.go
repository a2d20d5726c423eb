// Command kneesweep finds how many parallel streams an LLM endpoint can serve:
// it ramps concurrency, measures, fits the saturation knee and draws the curve.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	// net/http logs what idle connections say; it would stand on stderr unmasked.
	log.SetOutput(io.Discard)
	// The first signal ends the run cleanly, the second at once.
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		s := <-signals
		cancel(interrupted{s})
		s = <-signals
		os.Exit(interrupted{s}.code())
	}()
	os.Exit(run(ctx, os.Args, os.Stdout, os.Stderr))
}
