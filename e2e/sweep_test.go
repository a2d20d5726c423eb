//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The levels lie on both sides of the server's slots; the request shape is the
// default one. The sweep lasts a minute and a half: seven levels,
// each on the way up and down.
var (
	levels   = []int{1, 2, 4, 6, 8, 12, 16}
	settings = []string{"--levels", "1,2,4,6,8,12,16"}
)

// TestOllama measures a real server with the real command, as a user would.
func TestOllama(t *testing.T) {
	ctx := testContext(t)
	k := buildKneesweep(ctx, t)
	s := startServer(ctx, t)
	checkServer(ctx, t, s.base())

	target := []string{"--url", s.base(), "--model", model, "--json"}
	t.Run("ping", func(t *testing.T) { k.ping(t, target) })
	t.Run("sweep", func(t *testing.T) { k.sweep(t, target) })
	t.Run("levels of its own", func(t *testing.T) { k.adaptive(t, target) })
	t.Run("gateway and dialects", func(t *testing.T) { k.gateway(ctx, t, s) })
	k.restart(t, s, target)
	t.Run("other slots", func(t *testing.T) { k.otherSlots(ctx, t) })
}

// testContext ends in time for the clean-up before the test binary's own
// timeout, and when the test is interrupted.
func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	t.Cleanup(cancel)
	if deadline, ok := t.Deadline(); ok {
		ctx, cancel = context.WithDeadline(ctx, deadline.Add(-30*time.Second))
		t.Cleanup(cancel)
	}
	return ctx
}

// kneesweep is the command under test.
type kneesweep struct {
	ctx    context.Context
	binary string
	home   string
}

func buildKneesweep(ctx context.Context, t *testing.T) kneesweep {
	t.Helper()
	dir := t.TempDir()
	k := kneesweep{ctx: ctx, binary: filepath.Join(dir, "kneesweep"), home: dir}
	run(ctx, t, root(t), append(os.Environ(), "CGO_ENABLED=0"), "go", "build", "-o", k.binary, "./cmd/kneesweep")
	return k
}

// run runs the command in an environment of its own and returns what it wrote to
// standard output; it must exit with 0.
func (k kneesweep) run(t *testing.T, args ...string) []byte {
	t.Helper()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.home}
	return run(k.ctx, t, k.home, env, k.binary, args...)
}

// measure runs a sweep and returns its curve.
func (k kneesweep) measure(t *testing.T, args ...string) (c curve) {
	t.Helper()
	decode(t, k.swept(t, slices.Concat([]string{"--json", "--quiet", "--out", filepath.Join(t.TempDir(), "run")}, args)...), &c)
	return c
}

// swept runs a sweep and returns what it wrote to standard output. On a busy machine
// the client may be too late for any level to be valid (exit 4), which spoils neither
// counts nor order.
func (k kneesweep) swept(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(k.ctx, k.binary, append([]string{"sweep"}, args...)...)
	cmd.Dir, cmd.Env = k.home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.home}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 4 {
		t.Fatalf("%v: %v\n%s", args, err, lastBytes(stderr.Bytes(), 4000))
	}
	return stdout.Bytes()
}

func (k kneesweep) ping(t *testing.T, target []string) {
	var sample struct {
		Schema       string   `json:"schema"`
		Outcome      string   `json:"outcome"`
		OutputTokens int      `json:"output_tokens"`
		TokenSource  string   `json:"token_source"`
		TTFT         *float64 `json:"ttft_ms"`
	}
	decode(t, k.run(t, append([]string{"ping"}, target...)...), &sample)
	if sample.Schema != "kneesweep/sample/v1" || sample.Outcome != "ok" || sample.TokenSource != "server" {
		t.Errorf("sample = %+v, want a good one with the server's usage", sample)
	}
	if sample.OutputTokens < 1 || sample.TTFT == nil || *sample.TTFT <= 0 {
		t.Errorf("sample = %+v, want tokens and a time to the first", sample)
	}
}

func (k kneesweep) sweep(t *testing.T, target []string) {
	out := filepath.Join(t.TempDir(), "run")
	began := time.Now()
	live := k.swept(t, slices.Concat(target, settings, []string{"--out", out})...)
	took := time.Since(began)

	var c curve
	decode(t, live, &c)
	t.Logf("sweep of %d levels in %.0f s%s", len(c.Steps), took.Seconds(), c.table())
	checkCurve(t, c)
	if took > 150*time.Second {
		t.Errorf("the sweep took %.0f s, 90 were planned", took.Seconds())
	}

	checkFigure(t, out, "curve.png")
	readOutput(t, out, "report.md")
	_, file := readOutput(t, out, "curve.json")
	sameJSON(t, "curve.json against standard output", file, live)
	journal, _ := readOutput(t, out, "*journal*")
	sameJSON(t, "analyze of the journal against the live curve", k.run(t, "analyze", journal, "--json"), live)
}

// adaptive leaves the choice of the levels to the sweep. KNEESWEEP_E2E_KEEP names a
// folder that keeps its output.
func (k kneesweep) adaptive(t *testing.T, target []string) {
	out := os.Getenv("KNEESWEEP_E2E_KEEP")
	if out == "" {
		out = filepath.Join(t.TempDir(), "run")
	}
	began := time.Now()
	live := k.swept(t, slices.Concat(target, []string{"--max-concurrency", "32", "--precision", "30%", "--budget", "2m", "--window", "500ms", "--out", out})...)
	var c curve
	decode(t, live, &c)
	t.Logf("%d levels chosen in %.0f s: %s%s", len(c.Steps), time.Since(began).Seconds(), c.Run.StopReason, c.table())
	overTime := c.Run.Status == "stopped" && strings.Contains(c.Run.StopReason, "time budget") // on a busy machine
	if c.Run.Status != "complete" && !overTime || c.Run.StopReason == "" || len(c.Steps) < 4 { // the fewest that a verdict takes
		t.Errorf("%d levels, status %s, reason %q", len(c.Steps), c.Run.Status, c.Run.StopReason)
	}
	beyond := 0
	for _, s := range c.Steps {
		if s.Concurrency > slots {
			beyond++
		}
	}
	if beyond < 2 && !overTime { // the limit takes two levels to be believed, and the sweep knows
		t.Errorf("%d levels lie beyond the %d slots, want 2 at least", beyond, slots)
	}
	checkLimit(t, c, slots)
	journal, _ := readOutput(t, out, "*journal*")
	sameJSON(t, "analyze of the journal against the live curve", k.run(t, "analyze", journal, "--json"), live)
}

// checkLimit asserts the admission limit where two valid levels lie beyond it. On a
// busy machine the client may be too late for that, and the levels say so.
func checkLimit(t *testing.T, c curve, slots int) {
	t.Helper()
	valid := 0
	for _, s := range c.Steps {
		if s.Valid && s.Concurrency > slots {
			valid++
		}
	}
	if valid >= 2 && (c.AdmissionLimit == nil || c.AdmissionLimit.Value != float64(slots)) {
		t.Errorf("admission limit = %v, want %d", c.AdmissionLimit, slots)
	}
}

// checkCurve asserts what holds on any machine that runs the server at all.
func checkCurve(t *testing.T, c curve) {
	t.Helper()
	if c.Schema != "kneesweep/curve/v1" {
		t.Errorf("schema = %q", c.Schema)
	}
	var measured []int
	for _, s := range c.Steps {
		measured = append(measured, s.Concurrency)
		if s.Failed != 0 || len(s.Failures) != 0 {
			t.Errorf("N = %d: %d failed requests %v, want none", s.Concurrency, s.Failed, s.Failures)
		}
		if s.TokenSource != "server" && s.TokenSource != "server_scaled" {
			t.Errorf("N = %d: token source = %q, want the server's usage", s.Concurrency, s.TokenSource)
		}
		if s.Finished == 0 || s.Throughput == nil || s.TTFT.P50 == nil {
			t.Fatalf("N = %d: nothing was measured", s.Concurrency)
		}
	}
	if !slices.Equal(measured, levels) {
		t.Fatalf("levels = %v, want %v", measured, levels)
	}
	if c.Knee.Verdict == "" {
		t.Error("no verdict")
	}
	checkLimit(t, c, slots)
	within, beyond := *c.at(t, slots).TTFT.P50, *c.at(t, 2*slots).TTFT.P50
	if beyond <= 3*within {
		t.Errorf("TTFT p50 = %.1f ms at %d streams and %.1f ms at %d, want more than three times as much", within, slots, beyond, 2*slots)
	}
}
