package slo

import (
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"  ", ""},
		{"ttft_p95<=500ms,tpot_p95<=50ms,error_rate<=1%", "ttft_p95<=500ms,tpot_p95<=50ms,error_rate<=1%"},
		{" ttft_p95 <= 0.5s , error_rate <= 0.01 ", "ttft_p95<=500ms,error_rate<=1%"},
		{"itl_p99<=80", "itl_p99<=80ms"},
		{"itl_p99<=0.25", "itl_p99<=0.25ms"},
		{"e2e_p50<=1m30s", "e2e_p50<=90000ms"},
		{"ttft_p90<=1us", "ttft_p90<=0.001ms"},
		{"ttft_p50<=1s,ttft_p99<=2s", "ttft_p50<=1000ms,ttft_p99<=2000ms"},
		{"error_rate<=0.3%", "error_rate<=0.3%"},
		{"error_rate<=7%", "error_rate<=7%"},
	} {
		l, err := Parse(c.text)
		if err != nil || l.String() != c.want {
			t.Errorf("%q: %q, %v, want %q", c.text, l, err, c.want)
			continue
		}
		again, err := Parse(l.String())
		if err != nil || again.String() != c.want {
			t.Errorf("%q again: %q, %v", c.want, again, err)
		}
	}
	l, err := Parse("tpot_p95<=50ms,error_rate<=1%")
	if err != nil || l[0] != (Limit{TPOT, 95, 50 * time.Millisecond, 0.05}) || l[1] != (Limit{ErrorRate, 0, 0, 0.01}) {
		t.Errorf("%+v, %v", l, err)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, part, mend string }{
		{"ttft_p95", `"ttft_p95"`, "write FIGURE<=VALUE"},
		{"ttft_p95<500ms", `"ttft_p95<500ms"`, "no <="},
		{"ttft_p95>=500ms", `"ttft_p95>=500ms"`, "no <="},
		{"foo_p95<=1s", `no figure "foo_p95"`, "ttft, tpot, itl or e2e with _p50, _p90, _p95 or _p99, or error_rate"},
		{"ttft_mean<=1s", `no figure "ttft_mean"`, Figures},
		{"ttft_p75<=1s", `no figure "ttft_p75"`, Figures},
		{"ttft<=1s", `no figure "ttft"`, Figures},
		{"<=1s", `no figure ""`, Figures},
		{"ttft_p95<=", `"ttft_p95<="`, "such as 500ms"},
		{"ttft_p95<=x", `"x" is not a positive time`, "0.5s"},
		{"ttft_p95<=-1s", `"-1s"`, "positive"},
		{"ttft_p95<=0", `"0"`, "positive"},
		{"ttft_p95<=NaN", `"NaN"`, "positive"},
		{"ttft_p95<=1e300", `"1e300"`, "positive"},
		{"ttft_p95<=5%", `"5%"`, "positive time"},
		{"error_rate<=0", `"0"`, "such as 1%"},
		{"error_rate<=100%", `"100%"`, "below 1"},
		{"error_rate<=NaN", `"NaN"`, "share"},
		{"error_rate<=1s", `"1s"`, "share"},
		{"ttft_p95<=1s,", `""`, "an empty limit"},
		{"ttft_p95<=1s,ttft_p95<=2s", `"ttft_p95<=2s"`, "a second limit on ttft_p95"},
	} {
		l, err := Parse(c.text)
		if err == nil || l != nil || !strings.Contains(err.Error(), c.part) || !strings.Contains(err.Error(), c.mend) {
			t.Errorf("%q: %v, %v, want %s and %s", c.text, l, err, c.part, c.mend)
		}
	}
	if _, err := Parse("a,b"); err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("not one line for each part: %v", err)
	}
}
