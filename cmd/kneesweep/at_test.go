package main

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// table is a curve with levels 2, 4 and 8, without a knee to be sure of.
const tableOfThree = "concurrency,output_tokens_per_second,ttft_ms,itl_ms\n2,100,100,20\n2,104,100,20\n4,200,200,20\n4,204,200,20\n8,300,600,40\n8,304,600,40\n"

func TestAnalyzeAt(t *testing.T) {
	t.Parallel()
	curve := write(t, "curve.csv", tableOfThree)
	dir := filepath.Join(t.TempDir(), "out")
	r := command("analyze", curve, "--at", "5", "--json", "--out", dir)
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	doc := object(t, r.out)
	if at(t, doc, "at.concurrency") != 5.0 || at(t, doc, "at.below") != 4.0 || at(t, doc, "at.above") != 8.0 ||
		at(t, doc, "at.output_tokens_per_second.value") != 227.0 || math.Abs(at(t, doc, "at.ttft_p50_ms.value").(float64)-300) > 1e-9 || at(t, doc, "at.ttft_p50_ms.lo") != nil {
		t.Errorf("%v", doc["at"])
	}
	if !exists(filepath.Join(dir, "curve.png")) {
		t.Error("no chart")
	}
	// What was written says the same, and without --at nothing is said.
	again := object(t, command("analyze", filepath.Join(dir, "curve.json"), "--json").out)
	if fmt.Sprint(again["at"]) != fmt.Sprint(doc["at"]) {
		t.Errorf("%v became %v", doc["at"], again["at"])
	}
	if doc := object(t, command("analyze", curve, "--json").out); doc["at"] != nil {
		t.Errorf("%v", doc["at"])
	}
	text := strings.Join(strings.Fields(command("analyze", curve, "--at", "5").out), " ")
	if want := "At 5 parallel streams: throughput 227 tokens/s"; !strings.Contains(text, want) || !strings.Contains(text, "straight line between the levels 4 and 8") {
		t.Errorf("%q is not said:\n%s", want, text)
	}
}

// TestAnalyzeAtATrace asks for what was in flight: as recorded, and estimated where
// the trace does not tell how long requests took.
func TestAnalyzeAtATrace(t *testing.T) {
	t.Parallel()
	var recorded, arrivals strings.Builder
	recorded.WriteString("start,duration\n")
	arrivals.WriteString("timestamp_s,output_tokens\n")
	for i := range 60 {
		fmt.Fprintf(&recorded, "%d,3\n", i)
		fmt.Fprintf(&arrivals, "%.2f,100\n", 0.4*float64(i))
	}
	log, trace := write(t, "log.csv", recorded.String()), write(t, "trace.csv", arrivals.String())
	curve := write(t, "curve.csv", tableOfThree)
	doc := object(t, command("analyze", curve, "--json", "--at", "p95", "--trace", log).out)
	if at(t, doc, "at.concurrency") != 3.0 || at(t, doc, "at.why") != "the p95 in flight in log.csv" {
		t.Errorf("%v", doc["at"])
	}
	// Each takes 0.1 to 0.6 s to its first token and 100 gaps of 20 to 40 ms: at 6
	// streams 0.4 + 3.0 s, in which 8.5 more arrive; at 8 streams 0.6 + 4.0 s, in which
	// 11.5 do. So they pile up beyond what was measured.
	if r := command("analyze", curve, "--at", "p95", "--trace", trace); r.code != exitFailed || !strings.Contains(r.err, "more than 8 requests would be in flight") {
		t.Errorf("exit %d: %s%s", r.code, r.err, r.out)
	}
	slower := write(t, "slower.csv", strings.ReplaceAll(arrivals.String(), ",100\n", ",50\n"))
	r := command("analyze", curve, "--json", "--at", "p95", "--trace", slower)
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	// At 4 streams 0.2 + 1.0 s, in which 3 arrive: 3 in flight. At 3 streams 0.15 + 1.0 s
	// keep 2.9 in flight, at most 3. At 2 streams 0.1 + 1.0 s keep at most 3: too many.
	doc = object(t, r.out)
	if at(t, doc, "at.concurrency") != 3.0 || !strings.Contains(fmt.Sprint(at(t, doc, "at.why")), "estimated from its arrivals and answer lengths") {
		t.Errorf("%v", doc["at"])
	}
}

func TestAnalyzeAtRefuses(t *testing.T) {
	t.Parallel()
	curve := write(t, "curve.csv", tableOfThree)
	log := write(t, "log.csv", "start,duration\n0,3\n")
	lengths := write(t, "lengths.csv", "input,output\n5,6\n")
	for args, c := range map[string]struct {
		code int
		want string
	}{
		"--at 9":                      {exitFailed, curve + ": --at: 9 streams lie outside of the valid levels, 2 to 8, and nothing is extrapolated"},
		"--at 0":                      {exitUsage, "--at: \"0\" is not a number of streams"},
		"--at p99":                    {exitUsage, "--at: \"p99\" is not a number of streams"},
		"--at p95":                    {exitUsage, "--at: p95 is of the requests in flight in a trace; give --trace FILE"},
		"--trace " + log:              {exitUsage, "--trace: works with --at"},
		"--at 3 --trace " + log:       {exitUsage, "--at and --trace: with a trace give p50, p95 or max"},
		"--at p95 --trace " + log:     {exitFailed, "1 streams lie outside of the valid levels"},
		"--at p95 --trace " + lengths: {exitFailed, "the trace does not tell when requests came"},
		"--at p95 --trace missing":    {exitUsage, "--trace: missing: no such file or directory"},
	} {
		r := command(append([]string{"analyze", curve}, strings.Fields(args)...)...)
		if r.code != c.code || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: exit %d: %s", args, r.code, r.err)
		}
	}
}
