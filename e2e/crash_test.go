//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kneesweep/load"
	"kneesweep/record/journal"
)

// crashSettings is a sweep of the embedded endpoint that takes longer than any of
// them is left to run.
var crashSettings = []string{
	"--levels", "1,2,4,8", "--measurements", "16", "--window", "100ms", "--warmup", "2", "--output-tokens", "20",
}

const (
	crashes    = 50
	crashLanes = 4 // sweeps that run at once
	crashSpan  = 4 * time.Second

	// A journal is flushed every second; the rest is for a busy machine.
	mostLost = 2500 * time.Millisecond
)

// TestKilled kills a sweep at random moments, in a way that it cannot notice: what
// was written stays, is read, and what is missing is said.
func TestKilled(t *testing.T) {
	ctx := testContext(t)
	k := buildKneesweep(ctx, t)
	rng := rand.New(rand.NewPCG(1, 9))
	moments := make([]time.Duration, crashes)
	for i := range moments {
		moments[i] = time.Duration(rng.Int64N(int64(crashSpan)))
	}
	var whole, cut, early atomic.Int64
	t.Run("moments", func(t *testing.T) {
		lanes := make(chan struct{}, crashLanes)
		for i, at := range moments {
			t.Run(fmt.Sprintf("%02d after %v", i, at.Round(time.Millisecond)), func(t *testing.T) {
				t.Parallel()
				lanes <- struct{}{}
				defer func() { <-lanes }()
				switch k.kill(t, at) {
				case outcomeWhole:
					whole.Add(1)
				case outcomeCut:
					cut.Add(1)
				default:
					early.Add(1)
				}
			})
		}
	})
	t.Logf("%d journals were cut, %d runs had ended before, %d had not begun to measure", cut.Load(), whole.Load(), early.Load())
	if cut.Load() < crashes*3/4 {
		t.Errorf("only %d of %d sweeps were killed while they measured", cut.Load(), crashes)
	}
}

type outcome int

const (
	outcomeEarly outcome = iota // there was no journal yet
	outcomeCut
	outcomeWhole
)

// kill starts a sweep, kills it, and looks at what is left.
func (k kneesweep) kill(t *testing.T, at time.Duration) outcome {
	dir := filepath.Join(t.TempDir(), "run")
	path := filepath.Join(dir, "journal.jsonl")
	var stderr bytes.Buffer
	args := append([]string{"sweep", "--quiet", "--out", dir}, crashSettings...)
	cmd := exec.CommandContext(k.ctx, k.binary, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = k.home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.home}, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(at)
	before, _ := os.ReadFile(path)
	killedAt := time.Now()
	_ = cmd.Process.Kill() // it may have ended
	err := cmd.Wait()
	if text := stderr.String(); strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") {
		t.Errorf("stderr: %s", text)
	}
	after, rerr := os.ReadFile(path)
	if rerr != nil {
		if len(before) > 0 {
			t.Errorf("the journal has gone: %v", rerr)
		}
		k.checkEarly(t, dir)
		return outcomeEarly
	}
	if !bytes.HasPrefix(after, before) {
		t.Error("what had been written is no longer the beginning of the journal")
	}
	ended := err == nil || !errors.As(err, new(*exec.ExitError))
	return k.checkJournal(t, dir, before, after, ended, killedAt)
}

// checkEarly wants a clear word where there is nothing to read.
func (k kneesweep) checkEarly(t *testing.T, dir string) {
	t.Helper()
	code, out, text := k.try(t, "analyze", dir)
	if code != 1 || out != "" || strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "kneesweep: "+dir+": ") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, text)
	}
}

// checkJournal reads the journal by itself and through the command.
func (k kneesweep) checkJournal(t *testing.T, dir string, before, after []byte, ended bool, killedAt time.Time) outcome {
	t.Helper()
	got, err := journal.Read(bytes.NewReader(after))
	if len(after) == 0 || err != nil {
		t.Fatalf("%d bytes: %v", len(after), err)
	}
	if len(before) > 0 {
		was, err := journal.Read(bytes.NewReader(before))
		if err != nil {
			t.Fatal(err)
		}
		n := len(was.Samples)
		if n > len(got.Samples) || n > 0 && !reflect.DeepEqual(was.Samples, got.Samples[:n]) {
			t.Errorf("%d samples before the end, %d after it, and not the same", n, len(got.Samples))
		}
	}
	code, out, text := k.try(t, "analyze", "--json", dir)
	if code != 0 || strings.Contains(text, "panic") {
		t.Fatalf("analyze: exit %d, %s", code, text)
	}
	var c struct {
		Run   struct{ Status string }
		Steps []step
	}
	decode(t, []byte(out), &c)
	if code, _, _ := k.try(t, "analyze", dir); code != 0 {
		t.Errorf("analyze as a table: exit %d", code)
	}
	if again, err := os.ReadFile(filepath.Join(dir, "journal.jsonl")); err != nil || !bytes.Equal(again, after) {
		t.Errorf("analyze changed the journal (%v)", err)
	}
	if len(got.Missing) == 0 {
		if c.Run.Status != "complete" || text != "" {
			t.Errorf("a whole journal: status %s, stderr %q", c.Run.Status, text)
		}
		return outcomeWhole
	}
	if ended {
		t.Error("the sweep ended by itself and left a journal without an end")
	}
	if c.Run.Status != "interrupted" || !strings.Contains(text, "the run was not finished") {
		t.Errorf("status %s, stderr %q", c.Run.Status, text)
	}
	checkLost(t, got, killedAt)
	return outcomeCut
}

// checkLost compares the last sign of life in a journal with the moment of the kill.
func checkLost(t *testing.T, got journal.Content, killedAt time.Time) {
	t.Helper()
	var last time.Duration
	for i := range got.Samples {
		if s := &got.Samples[i]; s.Cause != load.CauseCanceled {
			last = max(last, s.End)
		}
	}
	if lost := killedAt.Sub(got.Run.Started) - last; lost > mostLost {
		t.Errorf("the last request in the journal ended %v before the kill", lost)
	}
}

// try runs the command and returns its exit code and what it wrote.
func (k kneesweep) try(t *testing.T, args ...string) (code int, out, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(k.ctx, 5*time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, k.binary, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = k.home, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + k.home}, &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}
