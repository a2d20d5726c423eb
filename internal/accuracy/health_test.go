//go:build accuracy && linux

package accuracy_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"kneesweep/analysis"
	"kneesweep/analysis/stat"
	"kneesweep/ceiling"
	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/sweep"
	"kneesweep/workload"
)

// The study of the client's health runs this test again as its three parts: a token
// source, busy loops, and the measuring client, each a process of its own.
const roleVariable = "KNEESWEEP_HEALTH_ROLE"

var healthShape = ceiling.Shape{Interval: 20 * time.Millisecond, Tokens: 40}

// TestHealthRole is a part of the study, when asked for.
func TestHealthRole(t *testing.T) {
	switch role, args, _ := strings.Cut(os.Getenv(roleVariable), " "); role {
	case "source":
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("\n" + l.Addr().String())
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _, _ = bufio.NewReader(os.Stdin).ReadByte(); cancel() }()
		ceiling.Serve(ctx, l, healthShape)
	case "busy":
		go func() { _, _ = bufio.NewReader(os.Stdin).ReadByte(); os.Exit(0) }()
		for {
			_ = time.Now()
		}
	case "client":
		f := strings.Fields(args) // url, streams, windows, clock, core
		n, _ := strconv.Atoi(f[1])
		windows, _ := strconv.Atoi(f[2])
		if core, _ := strconv.Atoi(f[4]); core >= 0 {
			pin(t, core)
			runtime.GOMAXPROCS(1)
		}
		measureHealth(t, f[0], n, windows, f[3])
	}
}

// measureHealth prints, for each window of a sweep's own level as a step of its own,
// the error of its stamps and what was said of the client.
func measureHealth(t *testing.T, url string, n, steps int, clock string) {
	cfg := client.Config{URL: url, Model: "source", Epoch: time.Now(), Connections: n, KeepText: true}
	if clock == load.ClockUser { // a connection that hides its socket has no stamps of the kernel
		cfg.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			nc, err := new(net.Dialer).DialContext(ctx, network, addr)
			return struct{ net.Conn }{nc}, err
		}
	}
	cl, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	health := sweep.NewHealth()
	defer health.Close()
	for range steps {
		var mem sweep.Memory
		local, err := sweep.NewLocal(sweep.Config{Sender: cl, Source: workload.Synthetic{InputTokens: 4, OutputTokens: healthShape.Tokens, Seed: 1},
			Sink: mem.Take, Epoch: cfg.Epoch, Window: time.Second, MaxErrorRate: 1, Health: health})
		if err != nil {
			t.Fatal(err)
		}
		visit, err := local.Hold(t.Context(), load.Level{Concurrency: n, Windows: 2})
		local.Close()
		if err != nil {
			t.Fatal(err)
		}
		step := analysis.Summarize(analysis.Data{Run: load.Run{Settings: load.Settings{MaxErrorRate: 1}}, Visits: mem.Visits, Samples: mem.Samples})[0]
		span, _ := visit.Span()
		var wrong []float64
		for _, s := range mem.Samples {
			for k, c := range s.Chunks {
				if !span.Holds(c.At) || len(s.Text) < 19*(k+1) {
					continue
				}
				ns, err := strconv.ParseInt(s.Text[19*k:19*(k+1)], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				wrong = append(wrong, cfg.Epoch.Add(c.At).Sub(time.Unix(0, ns)).Seconds())
			}
		}
		slices.Sort(wrong)
		c := step.Client.V
		fmt.Printf("\nSTEP %g %v %g %g %g %q\n", stat.Quantile(wrong, 0.99), c.Bound, c.LagP99, c.WakeP99, c.Coalesced.V, c.Reason)
	}
}

// pin binds this process to a core.
func pin(t *testing.T, core int) {
	t.Helper()
	mask := [16]uint64{1 << core}
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range tasks { // threads to come inherit it
		id, _ := strconv.Atoi(task.Name())
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(id), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask))); errno != 0 {
			t.Fatal(errno)
		}
	}
}

// part starts a part of the study, bound to a core if that is not negative; it ends
// with its standard input.
func part(t *testing.T, role string, core int) (cmd *exec.Cmd, out *bufio.Reader) {
	t.Helper()
	args := []string{os.Args[0], "-test.run=^TestHealthRole$", "-test.timeout=20m"}
	if core >= 0 {
		args = append([]string{"taskset", "-c", strconv.Itoa(core)}, args...)
	}
	cmd = exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stdin.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewReader(stdout)
}

// TestClientHealth asks whether steps whose stamps are wrong by more than 5 % of the
// time between tokens (99th percentile, against the source's own stamps) are called
// bound, and others not. The client runs beside busy loops on its only core, or alone.
// It prints a table of docs/accuracy.md.
func TestClientHealth(t *testing.T) {
	const core = 1
	limit := 0.05 * healthShape.Interval.Seconds()
	var table strings.Builder
	fmt.Fprintln(&table, "| client | stamps by | N | steps | error p99, median of steps | worst | wrong | of them bound | right but bound |\n|---|---|---|---|---|---|---|---|---|")
	for _, c := range []struct {
		busy  int
		clock string
		n     int
		steps int
	}{
		{0, load.ClockKernel, 8, 50}, {0, load.ClockKernel, 64, 50}, {0, load.ClockUser, 8, 20}, {0, load.ClockUser, 64, 20},
		{1, load.ClockKernel, 32, 20}, {1, load.ClockUser, 32, 20}, {4, load.ClockKernel, 32, 20}, {4, load.ClockUser, 32, 20},
		{12, load.ClockKernel, 32, 20}, {12, load.ClockUser, 32, 20},
	} {
		t.Run(fmt.Sprintf("%d busy, %s, %d streams", c.busy, c.clock, c.n), func(t *testing.T) {
			_, src := part(t, "source", 0)
			addr := ""
			for !strings.HasPrefix(addr, "127.0.0.1:") {
				line, err := src.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				addr = strings.TrimSpace(line)
			}
			for range c.busy {
				part(t, "busy", core)
			}
			at := -1
			if c.busy > 0 {
				at = core
			}
			_, out := part(t, fmt.Sprintf("client http://%s %d %d %s %d", addr, c.n, c.steps, c.clock, at), at)
			var errs []float64
			wrong, caught, falsely := 0, 0, 0
			for len(errs) < c.steps {
				line, err := out.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				rest, ok := strings.CutPrefix(line, "STEP ")
				if !ok {
					continue
				}
				var p99, lag, wake, coalesced float64
				var bound bool
				var reason string
				if _, err := fmt.Sscanf(rest, "%g %t %g %g %g %q", &p99, &bound, &lag, &wake, &coalesced, &reason); err != nil {
					t.Fatal(err, rest)
				}
				errs = append(errs, p99)
				switch {
				case p99 > limit && bound:
					wrong++
					caught++
				case p99 > limit:
					wrong++
					t.Errorf("stamps wrong by %.2f ms (p99) and not bound: lag %.2f ms, wake %.2f ms, %.2f %% coalesced", 1e3*p99, 1e3*lag, 1e3*wake, 100*coalesced)
				case bound:
					falsely++
					t.Logf("right (%.3f ms) but bound: %s", 1e3*p99, reason)
				}
			}
			slices.Sort(errs)
			who := "alone"
			if c.busy > 0 {
				who = fmt.Sprintf("%d busy loops on its core", c.busy)
			}
			fmt.Fprintf(&table, "| %s | %s | %d | %d | %.3f ms | %.3f ms | %d | %d | %d |\n", who, c.clock, c.n, c.steps,
				1e3*stat.Quantile(errs, 0.5), 1e3*errs[len(errs)-1], wrong, caught, falsely)
		})
	}
	t.Logf("\n%s", table.String())
}
