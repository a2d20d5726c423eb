package main

import (
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/sim"
)

func simCommand() *cli.Command {
	const batch, noise, fault = "Batching:", "Noise:", "Faults:"
	return &cli.Command{
		Name:  "sim",
		Usage: "serve the simulated endpoint until interrupted",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: "127.0.0.1:8000", Usage: "`ADDRESS` to serve on"},
			&cli.StringFlag{Name: "model", Value: embeddedModel, Usage: "model `NAME` served"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of noise and faults"},
			&cli.IntFlag{Category: batch, Name: "slots", Value: embeddedSlots, Usage: "sequences that run at once"},
			&cli.DurationFlag{Category: batch, Name: "step", Value: embeddedStep, Usage: "time of one step of the engine"},
			&cli.DurationFlag{Category: batch, Name: "step-per-sequence", Usage: "added to a step for each running sequence"},
			&cli.DurationFlag{Category: batch, Name: "prefill", Usage: "added to a step for each prompt token admitted in it"},
			&cli.IntFlag{Category: batch, Name: "kv-tokens", Usage: "size of the KV cache; 0 = unlimited"},
			&cli.IntFlag{Category: batch, Name: "prefix-cache", Usage: "prompt `TOKENS` whose computation is kept for prompts that begin alike; 0 = none"},
			&cli.IntFlag{Category: batch, Name: "worse-above", Usage: "answers that begin with more than `N` sequences in the batch are of other words; 0 = never"},
			&cli.IntFlag{Category: batch, Name: "queue", Usage: "requests that may wait, more get 503; 0 = unlimited"},
			&cli.IntFlag{Category: batch, Name: "input-tokens", Value: defaultInput, Usage: "prompt length for which the truth is printed"},
			&cli.IntFlag{Category: batch, Name: "output-tokens", Value: embeddedOutput, Usage: "length of an answer without a limit"},
			&cli.IntFlag{Category: batch, Name: "tokens-per-chunk", Value: 1, Usage: "tokens per event"},
			&cli.IntFlag{Category: batch, Name: "hidden-tokens", Usage: "tokens billed before the first visible one"},
			&cli.BoolFlag{Category: batch, Name: "no-usage", Usage: "never report usage"},
			&cli.BoolFlag{Category: batch, Name: "usage-in-chunks", Usage: "let usage grow with every chunk"},
			&cli.Float64Flag{Category: noise, Name: "noise", Usage: "coefficient of variation of a window's throughput"},
			&cli.DurationFlag{Category: noise, Name: "noise-window", Value: time.Second, Usage: "length of those windows"},
			&cli.Float64Flag{Category: noise, Name: "jitter", Usage: "coefficient of variation of single steps"},
			&cli.Float64Flag{Category: noise, Name: "drift", Usage: "change of speed, e.g. -0.2"},
			&cli.DurationFlag{Category: noise, Name: "drift-over", Value: time.Minute, Usage: "time over which it drifts"},
			&cli.Float64Flag{Category: fault, Name: "rate-limit", Usage: "requests/s, more get 429; 0 = unlimited"},
			&cli.IntFlag{Category: fault, Name: "rate-burst", Value: 1, Usage: "requests that may come at once under a rate limit"},
			&cli.DurationFlag{Category: fault, Name: "retry-after", Usage: "what a 429 asks for; 0 = no header"},
			&cli.Float64Flag{Category: fault, Name: "fault-reject", Usage: "share of requests answered 500"},
			&cli.Float64Flag{Category: fault, Name: "fault-stall-first", Usage: "share that never gets a token"},
			&cli.Float64Flag{Category: fault, Name: "fault-stall", Usage: "share that falls silent after the first token"},
			&cli.Float64Flag{Category: fault, Name: "fault-truncate", Usage: "share cut off in the middle"},
			&cli.Float64Flag{Category: fault, Name: "fault-stream-error", Usage: "share with an error object in the stream"},
			&cli.Float64Flag{Category: fault, Name: "fault-fallback", Usage: "share answered by another model, " + sim.FallbackModel},
		},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			return serveSim(c)
		},
	}
}

func simConfig(c *cli.Context) sim.Config {
	return sim.Config{
		Model: c.String("model"), Slots: c.Int("slots"), StepBase: c.Duration("step"),
		StepPerSequence: c.Duration("step-per-sequence"), Prefill: c.Duration("prefill"),
		KVTokens: c.Int("kv-tokens"), PrefixCache: c.Int("prefix-cache"), WorseAbove: c.Int("worse-above"), Queue: c.Int("queue"), OutputTokens: c.Int("output-tokens"),
		TokensPerChunk: c.Int("tokens-per-chunk"), HiddenTokens: c.Int("hidden-tokens"),
		NoUsage: c.Bool("no-usage"), UsageInChunks: c.Bool("usage-in-chunks"),
		Noise: c.Float64("noise"), NoiseWindow: c.Duration("noise-window"), StepJitter: c.Float64("jitter"),
		Drift: c.Float64("drift"), DriftOver: c.Duration("drift-over"),
		RateLimit: c.Float64("rate-limit"), RateBurst: c.Int("rate-burst"), RetryAfter: c.Duration("retry-after"),
		Faults: sim.Faults{
			Reject: c.Float64("fault-reject"), StallFirst: c.Float64("fault-stall-first"), Stall: c.Float64("fault-stall"),
			Truncate: c.Float64("fault-truncate"), StreamError: c.Float64("fault-stream-error"), Fallback: c.Float64("fault-fallback"),
		},
		Seed: c.Uint64("seed"),
	}
}

func serveSim(c *cli.Context) error {
	cfg := simConfig(c)
	e, err := sim.New(cfg)
	if err != nil {
		return usage(err)
	}
	defer e.Close()
	l, err := net.Listen("tcp", c.String("listen"))
	if err != nil {
		return failed(fmt.Errorf("--listen: %w", err))
	}
	truth := cfg.Truth(c.Int("input-tokens"), c.Int("output-tokens"))
	_, err = fmt.Fprintf(c.App.Writer, "http://%s/v1 model %s truth: knee %.4g, admission limit %.4g (at %d input and %d output tokens)\n",
		l.Addr(), cfg.Model, truth.Knee, truth.AdmissionLimit, c.Int("input-tokens"), c.Int("output-tokens"))
	if err != nil {
		return failed(errors.Join(err, l.Close()))
	}
	stop := e.Serve(l)
	<-c.Context.Done()
	stop()
	if code, ok := interruptCode(c.Context); ok {
		return exitError{code, nil}
	}
	return nil
}
