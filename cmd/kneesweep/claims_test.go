package main

import (
	"encoding/json"
	"strings"
	"testing"
)

const grok = "../../docs/examples/claims-grok-4.6.yaml"

// claimed is what of the JSON of claims the tests read.
type claimed struct {
	Claims []struct {
		Name, Verdict, Reason string
		Measured              *struct{ Value, Lo, Hi float64 }
	}
	Contradictions []struct{ Text string }
	Scaling        []struct {
		GPUs       int
		Efficiency *struct{ Value, Lo, Hi float64 }
	}
}

func readClaimed(t *testing.T, r result) (c claimed) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.out), &c); err != nil {
		t.Fatalf("exit %d, %s: %v", r.code, r.err, err)
	}
	return c
}

// TestPublishedFiguresOfGrok holds them against a simulated run: they contradict each
// other, and each has a verdict with its reason.
func TestPublishedFiguresOfGrok(t *testing.T) {
	t.Parallel()
	run := simulatedCurve(t)
	r := command("claims", grok, run, "--json")
	c := readClaimed(t, r)
	if len(c.Contradictions) != 1 || !strings.HasPrefix(c.Contradictions[0].Text, "150 ms per 1,000 tokens is 6,667 tokens/s, not 1,200") {
		t.Errorf("contradictions %+v", c.Contradictions)
	}
	verdicts := map[string]string{}
	for _, v := range c.Claims {
		verdicts[v.Name] = v.Verdict
		if v.Reason == "" {
			t.Errorf("%s: no reason", v.Name)
		}
	}
	// The endpoint gives about 6,000 tokens/s, and one stream takes 4 s.
	if r.code != exitMissed || verdicts["throughput"] != "confirmed" || verdicts["time of 1,000 tokens"] != "refuted" || verdicts["scaling"] != "not_comparable" {
		t.Errorf("exit %d, %v", r.code, verdicts)
	}
	for _, format := range []string{"", "--markdown"} {
		args := []string{"claims", grok, run}
		if format != "" {
			args = append(args, format)
		}
		if r := command(args...); r.code != exitMissed || !strings.Contains(r.out, "refuted") || !strings.Contains(r.out, "6,667 tokens/s, not 1,200") {
			t.Errorf("%q: exit %d\n%s", format, r.code, r.out)
		}
	}
}

// scaledCSV is a table of a plateau at 16 streams.
func scaledCSV(t *testing.T, name, rates string) string {
	return write(t, name, csvOf("1,2,4,8,16,32,64", rates))
}

// TestClaimsExitCodes: 0 with one confirmed, 3 with one refuted, 4 with nothing to
// compare, 2 and 1 for what is wrong.
func TestClaimsExitCodes(t *testing.T) {
	t.Parallel()
	one := scaledCSV(t, "one.csv", "100,200,400,800,1600,1600,1600")
	two := scaledCSV(t, "two.csv", "190,380,760,1520,3040,3040,3040")
	fast := write(t, "fast.yaml", "assume: {input-tokens: any, output-tokens: any}\nclaims:\n  - {tokens-per-second: 1600, gpus: 1, streams: 16}\n  - {tokens-per-second: 1, gpus: 9, streams: 16}\n")
	faster := write(t, "faster.yaml", "assume: {input-tokens: any, output-tokens: any}\nclaims:\n  - {tokens-per-second: 1600, gpus: 1, streams: 16}\n  - {tokens-per-second: 2000, gpus: 1, streams: 16}\n")
	scaling := write(t, "scaling.yaml", "assume: {input-tokens: any, output-tokens: any}\nclaims:\n  - {speed-up: 1.9, gpus: 2}\n")
	bare := write(t, "bare.yaml", "claims:\n  - {tokens-per-second: 1600}\n")
	wrong := write(t, "wrong.yaml", "claims:\n  - {tokens-per-second: 1600, stream: 3}\n")
	for _, c := range []struct {
		args []string
		code int
		want string // in what is said
	}{
		{[]string{fast, one}, 0, "1 confirmed, 0 refuted, 1 not comparable"},
		{[]string{faster, one}, exitMissed, "1 confirmed, 1 refuted, 0 not comparable"},
		{[]string{scaling, one, two + "@gpus=2"}, 0, "0.950"},
		{[]string{scaling, one, one + "@gpus=2"}, exitMissed, "1 refuted"},
		{[]string{bare, one}, exitNoCurve, "not stated: gpus, streams, input-tokens, output-tokens"},
		{[]string{fast}, exitNoCurve, "no result was given"},
		{[]string{wrong, one}, exitUsage, "wrong.yaml:2: stream: no such key; streams?"},
		{nil, exitUsage, "claims needs a FILE.yaml"},
		{[]string{fast, one + "@gpus=0"}, exitUsage, "@gpus=0 is not a whole number of at least 1"},
		{[]string{fast, one, "--json", "--markdown"}, exitUsage, "choose one"},
		{[]string{fast, "nowhere.csv"}, exitFailed, "nowhere.csv: no such file"},
		{[]string{"nowhere.yaml", one}, exitFailed, "nowhere.yaml: no such file"},
	} {
		r := command(append([]string{"claims"}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.out+r.err, c.want) {
			t.Errorf("%v: exit %d, want %d and %q in\n%s%s", c.args, r.code, c.code, c.want, r.out, r.err)
		}
	}
	if c := readClaimed(t, command("claims", scaling, two+"@gpus=2", one, "--json")); len(c.Scaling) != 2 || c.Scaling[1].Efficiency.Value != 0.95 {
		t.Errorf("scaling %+v", c.Scaling)
	}
}
