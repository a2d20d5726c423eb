package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// cell names the runs that are compared with each other.
type cell struct {
	client string
	setting
}

// measure runs every client in every setting, round by round, each round in another
// order, so that a slow minute of the machine hits all alike.
func (p *plan) measure() (map[cell][]outcome, error) {
	results := map[cell][]outcome{}
	var settings []setting
	for _, n := range p.levels {
		for _, mode := range []string{"spread", "burst"} {
			settings = append(settings, setting{streams: n, mode: mode}, setting{streams: n, mode: mode, stamps: true})
		}
	}
	settings = append(settings, setting{streams: 64, mode: "spread", flood: true})
	for round := range p.rounds {
		for _, s := range settings {
			for i := range p.clients {
				name := p.clients[(i+round)%len(p.clients)]
				if s.stamps && name == wrk {
					continue
				}
				o, err := p.quietly(name, s)
				if err != nil {
					return nil, err
				}
				fmt.Fprintf(os.Stderr, "round %d: %-25s N=%-5d %-6s stamps %-5v %6.2f µs/event, %7.0f events/s, others %3.0f %%\n",
					round+1, name, s.streams, s.mode, s.stamps, o.perEvent(), float64(o.sent)/o.wall, o.others*100)
				k := cell{name, s}
				results[k] = append(results[k], o)
			}
		}
	}
	return results, nil
}

// median of a figure over the rounds.
func median(runs []outcome, of func(outcome) float64) float64 {
	var v []float64
	for _, o := range runs {
		v = append(v, of(o))
	}
	if len(v) == 0 {
		return -1
	}
	slices.SortFunc(v, cmp.Compare[float64])
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

func saturated(runs []outcome) bool {
	return slices.ContainsFunc(runs, outcome.saturated)
}

func (p *plan) print(w io.Writer, results map[cell][]outcome) {
	most := 0.0
	for _, runs := range results {
		most = max(most, median(runs, func(o outcome) float64 { return o.others }))
	}
	fmt.Fprintf(w, "%s, %s, %d cores, %s; %d rounds of %g s a cell, medians. Other work took at most %.0f %% of a core in the median run of a cell.\n",
		time.Now().UTC().Format("2 January 2006"), processor(), runtime.NumCPU(), runtime.Version(), p.rounds, p.seconds, 100*most)
	for _, mode := range []string{"spread", "burst"} {
		p.printCPU(w, results, mode)
	}
	for _, mode := range []string{"spread", "burst"} {
		p.printErrors(w, results, mode)
	}
	p.printRest(w, results)
}

// printCPU writes CPU per event, and how often that of kneesweep it is: the median of
// the ratios of the rounds.
func (p *plan) printCPU(w io.Writer, results map[cell][]outcome, mode string) {
	fmt.Fprintf(w, "\nCPU (user + system) per token event in µs, %s; in brackets the multiple of kneesweep's, the median of the rounds' ratios:\n\n", mode)
	p.head(w, "client")
	for _, name := range p.clients {
		fmt.Fprintf(w, "| %s |", name)
		for _, n := range p.levels {
			runs := results[cell{name, setting{streams: n, mode: mode}}]
			ours := results[cell{product, setting{streams: n, mode: mode}}]
			switch {
			case saturated(runs):
				fmt.Fprintf(w, " %.1f, saturated |", median(runs, outcome.perEvent))
			case len(ours) != len(runs) || saturated(ours):
				fmt.Fprintf(w, " %.1f |", median(runs, outcome.perEvent))
			default:
				i := -1
				ratio := median(runs, func(o outcome) float64 { i++; return o.perEvent() / ours[i].perEvent() })
				fmt.Fprintf(w, " %.1f (%.2f) |", median(runs, outcome.perEvent), ratio)
			}
		}
		fmt.Fprintln(w)
	}
}

// printErrors writes how much later than the source's stamp an event is said to have
// come.
func (p *plan) printErrors(w io.Writer, results map[cell][]outcome, mode string) {
	fmt.Fprintf(w, "\nArrival less the source's stamp in µs, p50 / p99, %s; in brackets the share of events that came in one read with an earlier one, whose stamps are left out (– = the client cannot tell):\n\n", mode)
	p.head(w, "client")
	for _, name := range p.clients {
		if name == wrk {
			continue
		}
		fmt.Fprintf(w, "| %s |", name)
		for _, n := range p.levels {
			runs := results[cell{name, setting{streams: n, mode: mode, stamps: true}}]
			share := "–"
			if name == product || name == reader {
				share = fmt.Sprintf("%.2g %%", 100*median(runs, func(o outcome) float64 { return float64(o.Coalesced) / float64(max(1, o.Events)) }))
			}
			fmt.Fprintf(w, " %s / %s (%s) |", micros(median(runs, func(o outcome) float64 { return o.P50 })), micros(median(runs, func(o outcome) float64 { return o.P99 })), share)
		}
		fmt.Fprintln(w)
	}
}

func micros(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// printRest writes what has one figure a client.
func (p *plan) printRest(w io.Writer, results map[cell][]outcome) {
	least, most := p.levels[0], p.levels[len(p.levels)-1]
	fmt.Fprintf(w, "\n| client | events/s of one core, the source sending as fast as it can | heap objects per event at N=%d, the requests' own included | KiB of memory a stream, between N=%d and %d |\n|---|---|---|---|\n", most, least, most)
	for _, name := range p.clients {
		flood := results[cell{name, setting{streams: 64, mode: "spread", flood: true}}]
		rate := fmt.Sprintf("%.0f k", median(flood, func(o outcome) float64 { return float64(o.sent) / o.wall / 1e3 }))
		if median(flood, func(o outcome) float64 { return o.cpu / o.wall }) < 0.9 {
			rate = "≥ " + rate
		}
		objects, memory := "–", "–"
		big := results[cell{name, setting{streams: most, mode: "spread"}}]
		small := results[cell{name, setting{streams: least, mode: "spread"}}]
		rss := func(o outcome) float64 { return float64(o.MaxRSS) }
		if name != wrk && name != reader {
			objects = fmt.Sprintf("%.1f", median(big, func(o outcome) float64 { return o.Objects }))
			if most > least {
				memory = fmt.Sprintf("%.0f", (median(big, rss)-median(small, rss))/float64(most-least)/1024)
			}
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s |\n", name, rate, objects, memory)
	}
}

func (p *plan) head(w io.Writer, first string) {
	fmt.Fprintf(w, "| %s |", first)
	for _, n := range p.levels {
		fmt.Fprintf(w, " N=%d |", n)
	}
	fmt.Fprintln(w, "\n|---|"+strings.Repeat("---|", len(p.levels)))
}

// processor names the kind of machine, not the machine.
func processor() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
