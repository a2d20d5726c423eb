package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"testing"
)

// processVariable holds the arguments of the program that TestProcess is.
const processVariable = "KNEESWEEP_TEST_PROCESS"

// TestProcess is the program in a process of its own, when process starts it.
func TestProcess(t *testing.T) {
	text := os.Getenv(processVariable)
	if text == "" {
		return
	}
	var args []string
	if err := json.Unmarshal([]byte(text), &args); err != nil {
		t.Fatal(err)
	}
	if os.Getenv(panicVariable) != "" {
		run(t.Context(), args, panicking{}, os.Stderr)
	}
	os.Exit(run(context.Background(), args, os.Stdout, os.Stderr))
}

// panicVariable makes TestProcess panic when it writes to stdout.
const panicVariable = "KNEESWEEP_TEST_PANIC"

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("simulated") }

// process runs the program in a process of its own, for what is read only once from
// the environment, and for panics.
func process(t *testing.T, env []string, args ...string) result {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(append([]string{"kneesweep"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestProcess$")
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = append(os.Environ(), processVariable+"="+string(text), "TMPDIR="+t.TempDir(),
		"HTTP_PROXY=", "http_proxy=", "HTTPS_PROXY=", "https_proxy=", "ALL_PROXY=", "NO_PROXY=", "no_proxy=")
	cmd.Env = append(cmd.Env, env...)
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}
