package sweep_test

import (
	"testing"
	"testing/synctest"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/sweep"
	"kneesweep/sweep/pace"
	"kneesweep/workload"
)

// replayed replays times in a bubble.
func replayed(t *testing.T, s *sender, streams int, speed float64, times ...time.Duration) (analysis.Data, sweep.Outcome) {
	t.Helper()
	lasts := time.Duration(float64(times[len(times)-1]) / speed)
	data := analysis.Data{Run: load.Run{Settings: load.Settings{Passes: 1, Measurements: 2, MaxErrorRate: 0.05, Rates: []float64{1}, Replay: true}}}
	var out sweep.Outcome
	synctest.Test(t, func(t *testing.T) {
		s.epoch = time.Now()
		var mem sweep.Memory
		r := sweep.Replay{
			Open:  sweep.Open{Sender: s, Source: workload.Synthetic{InputTokens: 4, OutputTokens: 2, Seed: 1}, Sink: mem.Take, Epoch: s.epoch, Streams: streams},
			Trace: pace.NewTrace(times, speed), Lasts: lasts, Rate: 1, Windows: 2, MaxErrorRate: 0.05,
		}
		var err error
		if out, err = r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		data.Samples, data.Open = mem.Samples, mem.Open
	})
	return data, out
}

// TestReplayKeepsItsTimes: requests start when the trace says, divided by the speed; the
// first and the last count, and the span ends with the last answer.
func TestReplayKeepsItsTimes(t *testing.T) {
	times := []time.Duration{0, 300 * time.Millisecond, 300 * time.Millisecond, 2 * time.Second}
	for _, speed := range []float64{1, 2} {
		data, out := replayed(t, takes(500*time.Millisecond), 10, speed, times...)
		p := data.Open[0]
		if out.Status != load.StatusComplete || len(data.Samples) != 4 || p.Arrivals != 4 || p.Waited != 0 {
			t.Fatalf("%+v, %d samples, %+v", out, len(data.Samples), p)
		}
		if want := time.Duration(2/speed*float64(time.Second)) + 500*time.Millisecond; p.Measured.To-p.Measured.From != want {
			t.Errorf("speed %g: the span is %v, want %v", speed, p.Measured.To-p.Measured.From, want)
		}
		for i, s := range data.Samples {
			if want := time.Duration(float64(times[s.ID-1]) / speed); s.Sent != want || s.FromSchedule().V != 0 {
				t.Errorf("speed %g, sample %d was sent at %v, want %v", speed, i, s.Sent, want)
			}
		}
		if s := analysis.Analyze(data).Rates.Steps[0]; s.Finished+s.Failed < 3 || s.Delay.Count != 4 || s.Delay.P99 != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// TestReplayHidesNoWait: with one stream every request is sent in the end, late, and the
// latency from the schedule holds the wait.
func TestReplayHidesNoWait(t *testing.T) {
	data, _ := replayed(t, takes(time.Second), 1, 1, 0, 100*time.Millisecond, 200*time.Millisecond)
	p := data.Open[0]
	if p.Arrivals != 3 || p.Waited != 2 || p.Unsent != 0 || len(data.Samples) != 3 {
		t.Fatalf("%+v, %d samples", p, len(data.Samples))
	}
	late := map[time.Duration]bool{}
	for _, s := range data.Samples {
		late[s.Sent] = true
	}
	if !late[0] || !late[time.Second] || !late[2*time.Second] {
		t.Errorf("sent at %v", late)
	}
}

// TestReplayEndsWithADeadEndpoint, early.
func TestReplayEndsWithADeadEndpoint(t *testing.T) {
	down := &sender{answer: func(load.Prompt, time.Duration) (time.Duration, time.Duration, load.Cause) {
		return 0, time.Millisecond, load.CauseConnect
	}}
	var times []time.Duration
	for i := range 1000 {
		times = append(times, time.Duration(i)*100*time.Millisecond)
	}
	data, out := replayed(t, down, 4, 1, times...)
	if out.Status != load.StatusStopped || len(data.Samples) > 25 || data.Open[0].Ended != load.EndedFailing {
		t.Errorf("%+v after %d samples", out, len(data.Samples))
	}
}
