package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sync/errgroup"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/workload"
)

var cacheModes = []string{load.CacheNatural, load.CacheCold, load.CacheWarm}

// cacheFlag says what the prompts of a sweep do to a prefix cache.
func cacheFlag(category string) cli.Flag {
	return &cli.StringFlag{Category: category, Name: "cache", Value: load.CacheNatural,
		Usage: "natural: prompts as they are; cold: none begins as another did, in any run; warm: few prompts, all sent before (`MODE`)"}
}

// checkCache refuses modes that there are not, and prompts that say themselves what
// they do to a cache.
func checkCache(c *cli.Context) error {
	mode := c.String("cache")
	var errs []error
	if c.IsSet("cache") && !slices.Contains(cacheModes, mode) {
		errs = append(errs, fmt.Errorf("--cache: %q, need one of %s", mode, strings.Join(cacheModes, ", ")))
	}
	refuse := func(flag, why string) {
		if c.IsSet(flag) {
			errs = append(errs, fmt.Errorf("--cache %s and --%s: give one of them; %s", mode, flag, why))
		}
	}
	switch mode {
	case load.CacheCold:
		refuse("shared-prefix", "a shared beginning is there for a cache to answer")
	case load.CacheWarm:
		refuse("shared-prefix", "it says how much of the prompts a cache can answer")
		refuse("turns", "a cache knows the turns before, as it would in real traffic")
		refuse("replay", "the requests of a trace come once each")
	}
	return errors.Join(errs...)
}

// forCache makes prompts do to a prefix cache what --cache asks for.
func forCache(c *cli.Context, p workload.Prompts) (workload.Prompts, error) {
	if err := checkCache(c); err != nil {
		return nil, err
	}
	switch c.String("cache") {
	case load.CacheCold:
		run := strconv.FormatInt(time.Now().UnixMicro(), 36) // no other run began then
		return workload.Cold{Prompts: p, Run: run}, nil
	case load.CacheWarm:
		return workload.Warm{Prompts: p}, nil
	}
	return p, nil
}

// filling is how many requests fill a cache before the first level.
func filling(p workload.Prompts) int {
	if _, ok := warmOf(p); ok {
		return workload.WarmPrompts
	}
	return 0
}

// warmOf finds the prompts that are to be warm.
func warmOf(p workload.Prompts) (workload.Warm, bool) {
	if with, ok := p.(*workload.Canaries); ok {
		p = with.Prompts
	}
	warm, ok := p.(workload.Warm)
	return warm, ok
}

// fillingAtOnce is how many of them are in flight.
const fillingAtOnce = 4

// fillCache sends what is asked to be warm. A cache that does not have it is not
// warm, so any failure ends the sweep before it began.
func fillCache(c *cli.Context, cl *client.Client, t *target) error {
	warm, ok := warmOf(t.source)
	if !ok {
		return nil
	}
	g, ctx := errgroup.WithContext(c.Context)
	g.SetLimit(fillingAtOnce)
	for _, p := range warm.Fill() {
		g.Go(func() error {
			if s := cl.Send(ctx, p); s.Failed() {
				return fmt.Errorf("--cache warm: a request to fill the cache failed (%s): %s", s.Cause, s.Error)
			}
			return nil
		})
	}
	err := g.Wait()
	if code, ok := interruptCode(c.Context); ok {
		return exitError{code, errors.New("interrupted before the first measurement")}
	}
	if err != nil {
		return failed(fmt.Errorf("%w\nnothing was measured; without --cache the prompts are asked as they are", err))
	}
	return nil
}
