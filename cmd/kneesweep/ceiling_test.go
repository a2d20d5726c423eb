package main

import (
	"context"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"kneesweep/ceiling"
	"kneesweep/load"
)

// ceiling prints one document with every level, whatever the machine holds today.
func TestCeiling(t *testing.T) {
	t.Parallel()
	r := command("ceiling", "--levels", "1,3", "--seconds", "0.2", "--interval", "2ms", "--tokens", "10", "--mode", "burst", "--json")
	if r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	doc := object(t, r.out)
	if at(t, doc, "schema") != ceiling.Schema || at(t, doc, "mode") != "burst" || at(t, doc, "tokens") != 10.0 {
		t.Errorf("%s", r.out)
	}
	levels := at(t, doc, "levels").([]any)
	for i, n := range []float64{1, 3} {
		l := levels[i].(map[string]any)
		if l["concurrency"] != n || l["failed"] != 0.0 || l["events_per_second"].(float64) <= 0 || l["stamp_error_us"] == nil {
			t.Errorf("%v", l)
		}
	}
}

func TestCeilingUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--mode", "both"}, {"--interval", "0s"}, {"--tokens", "1"}, {"--seconds", "0"}, {"--seconds", "NaN"}, {"--levels", "0"}, {"10"}} {
		if r := command(append([]string{"ceiling"}, args...)...); r.code != exitUsage || r.out != "" {
			t.Errorf("%v: exit %d, %s%s", args, r.code, r.out, r.err)
		}
	}
}

// The source is gone after stop, and after the context ends, as on Ctrl-C.
func TestSourceIsEnded(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(cancel func(), stop func() error){
		"stop":   func(_ func(), stop func() error) { _ = stop() },
		"cancel": func(cancel func(), stop func() error) { cancel(); _ = stop() },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		url, stop, err := startSource(ctx, ceiling.Shape{Interval: time.Millisecond, Tokens: 2})
		if err != nil {
			t.Fatal(err)
		}
		ask := func() error {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/chat/completions", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				resp.Body.Close()
			}
			return err
		}
		if err := ask(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		end(cancel, stop)
		if err := ask(); err == nil {
			t.Errorf("%s: the source still answers", name)
		}
		cancel()
	}
}

func TestCeilingInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(300*time.Millisecond, func() { cancel(interrupted{syscall.SIGINT}) })
	var out, errs strings.Builder
	if code := run(ctx, []string{"kneesweep", "ceiling", "--levels", "1", "--seconds", "60"}, &out, &errs); code != exitSIGINT || out.Len() > 0 {
		t.Errorf("exit %d, %s%s", code, out.String(), errs.String())
	}
}

// What a sweep says beforehand: cores by the time between chunks of the first answer,
// ports with new connections.
func TestForesight(t *testing.T) {
	const ms = time.Millisecond
	first := func(gap time.Duration) *load.Sample {
		return &load.Sample{End: 10 * gap, Chunks: []load.Chunk{{At: gap}, {At: 2 * gap}, {At: 3 * gap}}}
	}
	for _, c := range []struct {
		gap            time.Duration
		highest, cores int
		want           bool
	}{
		{20 * ms, 256, 2, false},  // 12,800 events/s, a quarter of a core
		{20 * ms, 1000, 1, true},  // 50,000 events/s: one core
		{20 * ms, 1000, 2, false}, // of two
		{20 * ms, 10_000, 8, true},
	} {
		hints := foresight(first(c.gap), c.highest, c.cores, false)
		if (len(hints) > 0) != c.want || c.want && !strings.Contains(hints[0], "kneesweep ceiling") {
			t.Errorf("%+v: %q", c, hints)
		}
	}
	if hints := foresight(&load.Sample{}, 1000, 1, false); len(hints) > 0 {
		t.Errorf("without chunks: %q", hints)
	}
	if h := portHint(time.Second, 400, 28_232); h != "" { // 24,400 ports
		t.Errorf("%q", h)
	}
	if h := portHint(time.Second, 500, 28_232); !strings.Contains(h, "500 streams as fast as the first request would use up 30500 local ports") {
		t.Errorf("%q", h)
	}
	if err := portsFor(28_232, 28_232); err != nil {
		t.Error(err)
	}
	if err := portsFor(28_233, 28_232); err == nil || !strings.Contains(err.Error(), "net.ipv4.ip_local_port_range") {
		t.Errorf("%v", err)
	}
}
