package workload_test

import (
	"strings"
	"testing"
	"time"

	"kneesweep/workload"
)

// TestReplayAsksTheTrace: request i has the lengths of row i in the order of time, and
// what the trace does not tell is drawn as without it.
func TestReplayAsksTheTrace(t *testing.T) {
	tr := trace(t, "timestamp,input_tokens,output_tokens\n9,30,3\n7,10,1\n7.5,20,2\n")
	in, _ := tr.Inputs()
	out, _ := tr.Outputs()
	r := workload.Replay{Synthetic: workload.Synthetic{Input: in, Output: out, Seed: 1}, Trace: tr}
	for i, want := range []int{10, 20, 30} {
		p := r.Prompt(workload.Key{Seq: i})
		if p.InputTokens != want || p.OutputTokens != want/10 || len(strings.Fields(p.Messages[0].Content)) != want {
			t.Errorf("request %d: %d and %d tokens, want %d and %d", i, p.InputTokens, p.OutputTokens, want, want/10)
		}
	}
	r.Output = workload.Fixed(7)
	if p := r.Prompt(workload.Key{Seq: 2}); p.InputTokens != 30 || p.OutputTokens != 7 {
		t.Errorf("with answers of 7: %d and %d", p.InputTokens, p.OutputTokens)
	}
	if p := r.Prompt(workload.Preflight); p.OutputTokens != 7 || p.InputTokens < 10 {
		t.Errorf("preflight: %d and %d", p.InputTokens, p.OutputTokens)
	}
}

func TestTimesOfATrace(t *testing.T) {
	times, err := trace(t, "timestamp,input_tokens\n9,30\n7,10\n7.5,20\n").Times()
	if err != nil || len(times) != 3 || times[1] != 500*time.Millisecond || times[2] != 2*time.Second {
		t.Errorf("%v, %v", times, err)
	}
	for content, want := range map[string]string{"input,output\n1,2\n": "no column with the times", "timestamp,input\n4,2\n4,3\n": "at one time"} {
		if _, err := trace(t, content).Times(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", content, err)
		}
	}
}
