// Command bench compares what one core can hold: kneesweep's client with other
// clients, all reading the same bytes of the same token source, one after the other,
// in interleaved rounds. It prints Markdown; docs/bench.md says what came out.
//
// It needs Linux on amd64 or arm64, gcc, taskset and two cores; wrk takes part when
// it is installed. The source runs on the first core, the client on the second.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

func main() {
	if err := command(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func command() error {
	var p plan
	levels := flag.String("n", "", "numbers of streams; 64,256,1000 by default, 1000,10000 with -many")
	flag.IntVar(&p.rounds, "rounds", 3, "rounds; the medians count")
	flag.Float64Var(&p.seconds, "seconds", 5, "of each run")
	flag.IntVar(&p.tries, "tries", 3, "of a run that other work disturbs; the quietest counts")
	many := flag.Bool("many", false, "memory, CPU and in-flight with very many streams at a slow pace instead")
	only := flag.String("only", "", "clients to run, separated by commas; all by default")

	child := flag.String("client", "", "be this client: what the bench starts itself")
	var t task
	flag.StringVar(&t.base, "base", "", "address of the source, for -client")
	flag.IntVar(&t.streams, "streams", 1, "streams, for -client")
	flag.BoolVar(&t.stamps, "stamps", false, "compare arrivals with the stamps of the source, for -client")
	flag.DurationVar(&t.ramp, "ramp", 0, "time over which the streams start, for -client")
	profile := flag.String("profile", "", "write a CPU profile to this file, for -client")
	flag.Parse()
	if *child != "" {
		return run(*child, t, p.seconds, *profile)
	}
	if *levels == "" {
		*levels = "64,256,1000"
		if *many {
			*levels = "1000,10000"
		}
	}
	for _, f := range strings.Split(*levels, ",") {
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 {
			return fmt.Errorf("-n: %q is no number of streams", f)
		}
		p.levels = append(p.levels, n)
	}
	if p.rounds < 1 || p.tries < 1 || p.seconds <= 0 {
		return fmt.Errorf("-rounds, -tries and -seconds must be positive")
	}
	if err := p.choose(*only); err != nil {
		return err
	}
	defer p.clean()
	if err := p.build(); err != nil {
		return err
	}
	if *many {
		return p.many(os.Stdout)
	}
	results, err := p.measure()
	if err != nil {
		return err
	}
	p.print(os.Stdout, results)
	return nil
}
