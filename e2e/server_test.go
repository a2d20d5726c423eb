//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"kneesweep/e2e/tinymodel"
)

const (
	ollamaVersion = "0.6.5" // builds with gcc alone
	slots         = 4       // requests that the server decodes at once
	model         = "tiny"
)

// modelfile limits the context to what the test needs and one thread to the
// model, so that the client has a core to itself.
const modelfile = `FROM ./tiny.gguf
TEMPLATE """{{ range .Messages }}<|im_start|>{{ .Role }}
{{ .Content }}<|im_end|>
{{ end }}<|im_start|>assistant
"""
PARAMETER num_ctx 1024
PARAMETER num_thread 1
PARAMETER num_predict 200
PARAMETER stop <|im_end|>
`

// server is an OpenAI-compatible endpoint that serves the tiny model.
type server struct {
	binary, home, address string
	slots                 int
	kill                  func() // takes it away without notice
}

// startServer starts the endpoint, which is ended with the test, and by ctx.
func startServer(ctx context.Context, t *testing.T) *server {
	t.Helper()
	return startServerWith(ctx, t, slots)
}

func startServerWith(ctx context.Context, t *testing.T, slots int) *server {
	t.Helper()
	s := &server{binary: installOllama(ctx, t), home: t.TempDir(), address: freeAddress(t), slots: slots}
	log := s.serve(ctx, t)
	waitFor(ctx, t, "the server", log, func(ctx context.Context) error { return get(ctx, "http://"+s.address+"/api/version") })

	began := time.Now()
	writeModel(t, s.home)
	run(ctx, t, s.home, s.env(), s.binary, "create", model, "-f", "Modelfile")
	waitFor(ctx, t, "the model", log, func(ctx context.Context) error {
		_, err := chat(ctx, s.base(), "Hello", 4)
		return err
	})
	t.Logf("model created and loaded in %.1f s", time.Since(began).Seconds())
	return s
}

func (s *server) base() string { return "http://" + s.address + "/v1" }

func (s *server) env() []string { return serverEnv(s.home, s.address, s.slots) }

// serve starts the process, a first or another time, and returns its log.
func (s *server) serve(ctx context.Context, t *testing.T) (log string) {
	t.Helper()
	log, s.kill = startGroup(ctx, t, s.home, s.env(), s.binary, "serve")
	return log
}

// installOllama returns the path of the server's binary, which it builds if the
// cache has none.
func installOllama(ctx context.Context, t *testing.T) string {
	t.Helper()
	dir := filepath.Join(cacheDir(t), "ollama-"+ollamaVersion)
	binary := filepath.Join(dir, "ollama")
	if _, err := os.Stat(binary); err == nil {
		t.Logf("ollama %s found in the cache", ollamaVersion)
		return binary
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	building, err := os.MkdirTemp(dir, "building-") // moved into place when whole
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(building)

	began := time.Now()
	t.Logf("ollama %s is being built", ollamaVersion)
	optimise := "-O2"
	if haswell() {
		optimise += " -march=x86-64-v3"
	}
	env := append(os.Environ(), "GOBIN="+building, "CGO_ENABLED=1", "GOFLAGS=-mod=mod -buildvcs=false",
		"CGO_CFLAGS="+optimise, "CGO_CXXFLAGS="+optimise)
	run(ctx, t, building, env, "go", "install",
		"-ldflags", "-s -w -X github.com/ollama/ollama/version.Version="+ollamaVersion,
		"github.com/ollama/ollama@v"+ollamaVersion)
	if err := os.Rename(filepath.Join(building, "ollama"), binary); err != nil {
		t.Fatal(err)
	}
	t.Logf("ollama built in %.0f s", time.Since(began).Seconds())
	return binary
}

// cacheDir is where the server's binary is kept between runs.
func cacheDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("KNEESWEEP_E2E_CACHE")
	if dir == "" {
		dir = filepath.Join(".cache", "e2e")
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(root(t), dir)
	}
	return dir
}

// root is the folder of the repository; tests run in the folder of their package.
func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// haswell reports whether the processor has the vector instructions of
// x86-64-v3, without which the server is several times slower.
func haswell() bool {
	if runtime.GOARCH != "amd64" {
		return false
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	return err == nil && bytes.Contains(info, []byte(" avx2 ")) && bytes.Contains(info, []byte(" fma "))
}

func serverEnv(home, address string, slots int) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + home,
		"OLLAMA_MODELS=" + filepath.Join(home, "models"),
		"OLLAMA_HOST=" + address,
		fmt.Sprint("OLLAMA_NUM_PARALLEL=", slots),
		"OLLAMA_CONTEXT_LENGTH=1024",
		"OLLAMA_KEEP_ALIVE=60m",
		"OLLAMA_MAX_QUEUE=512",
		"OLLAMA_NOPRUNE=1",
	}
	return append(env, "TMPDIR="+home)
}

// freeAddress is a loopback address that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func writeModel(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "tiny.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := tinymodel.Write(f, tinymodel.Default())
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	t.Logf("model of %.1f million parameters, %d tokens, %.1f MB", float64(info.Parameters)/1e6, info.Tokens, float64(info.Bytes)/1e6)
	if err := os.WriteFile(filepath.Join(dir, "Modelfile"), []byte(modelfile), 0o644); err != nil {
		t.Fatal(err)
	}
}

// startGroup starts a program in a process group of its own, which is ended with
// the test or by ctx, and returns the file that takes its output and a function
// that kills the group at once.
func startGroup(ctx context.Context, t *testing.T, dir string, env []string, name string, args ...string) (log string, kill func()) {
	t.Helper()
	log = filepath.Join(dir, "server.log")
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(errors.Join(err, out.Close()))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is always ended by a signal
		out.Close()
	}()
	stop := func() { endGroup(cmd.Process.Pid, ended) }
	unhook := context.AfterFunc(ctx, stop)
	t.Cleanup(func() {
		unhook()
		stop()
		if t.Failed() {
			t.Logf("the server's last words:\n%s", tail(log, 4000))
		}
	})
	return log, func() {
		select {
		case <-ended: // its number may be another's by now
			return
		default:
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-ended
	}
}

// endGroup asks the process group to end, insists after ten seconds, and takes
// with it what its leader left behind.
func endGroup(pgid int, ended <-chan struct{}) {
	select {
	case <-ended:
	default:
		_ = syscall.Kill(-pgid, syscall.SIGTERM)
		select {
		case <-ended:
		case <-time.After(10 * time.Second):
		}
	}
	_ = syscall.Kill(-pgid, syscall.SIGKILL)
	<-ended
}

// run runs a program to its end and returns its standard output. The test ends
// if the program fails.
func run(ctx context.Context, t *testing.T, dir string, env []string, name string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = dir, env
	cmd.WaitDelay = 5 * time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, lastBytes(stdout.Bytes(), 2000), lastBytes(stderr.Bytes(), 4000))
	}
	return stdout.Bytes()
}

// waitFor asks ready until it has no error, for a minute at most.
func waitFor(ctx context.Context, t *testing.T, what, log string, ready func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s is not ready: %v\n%s", what, err, tail(log, 2000))
		case <-poll.C:
		}
	}
}

func get(ctx context.Context, url string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func tail(file string, n int) []byte {
	b, err := os.ReadFile(file)
	if err != nil {
		return []byte(err.Error())
	}
	return lastBytes(b, n)
}

func lastBytes(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
