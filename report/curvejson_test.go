package report

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/load"
)

func TestCurveRoundTripKeepsEveryField(t *testing.T) {
	want := filled(t)
	for i := range want.Steps {
		want.Steps[i].Imported = false // else there would be little to keep
	}
	b, err := MarshalCurve(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadCurve(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		again, _ := MarshalCurve(got)
		t.Errorf("lost on the way:\n%s", difference(string(b), string(again)))
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestCurveWritesTheSameBytesAgain(t *testing.T) {
	c := filled(t)
	c.Steps[0].TTFT.P50 = 0.123456789012345
	c.Steps[0].Measurements = []float64{1.0 / 3, math.NaN(), 2e5 / 7}
	c.Steps[0].Throughput = load.Some(load.Estimate{Value: 1.0 / 7, Lo: math.NaN(), Hi: math.Inf(1)})
	c.Run.Settings.Think = 1234567 * time.Nanosecond
	first, err := MarshalCurve(c)
	if err != nil {
		t.Fatal(err)
	}
	back, err := ReadCurve(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	second, err := MarshalCurve(back)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error(difference(string(first), string(second)))
	}
}

// difference is the first line in which two texts differ.
func difference(a, b string) string {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i] + "\n" + bs[i]
		}
	}
	return "one is longer"
}

// TestCurveIsStrictJSON writes the emptiest and the most broken curves; the
// encoder refuses NaN, so that it is enough that they are written.
func TestCurveIsStrictJSON(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	broken := filled(t)
	s := &broken.Steps[0]
	s.Measurements = []float64{nan, inf}
	s.Throughput = load.Some(load.Estimate{Value: nan, Lo: nan, Hi: nan})
	s.TTFT = load.Dist{P50: nan, P90: inf, P95: nan, P99: nan, Mean: -inf, Count: 3}
	s.InFlight.Mean, s.DecodeConcurrency.Mean, s.Waves, s.Requests, s.ScaledShare = nan, inf, nan, inf, nan
	s.ErrorRate, s.LittlesLaw, s.Drift = load.Some(nan), load.Some(inf), load.Some(nan)
	s.Client.V = load.ClientHealth{CPU: nan, LagP99: inf, GCPause: nan}
	k := &broken.Knee
	k.Plateau, k.Slope, k.N95, k.LowerBound, k.RisePerDoubling = load.Some(nan), load.Some(inf), load.Some(nan), load.Some(nan), load.Some(inf)
	k.Concurrency = load.Some(load.Estimate{Value: 3, Lo: nan, Hi: inf})
	k.Retrograde.Drop, k.Fit.A, k.Fit.RSS = nan, inf, nan
	broken.Admission = load.Some(load.Estimate{Value: nan})
	broken.Run.Truth.Knee, broken.Run.Settings.MaxErrorRate = nan, inf
	broken.Estimates[0].Concurrency = load.Some(load.Estimate{Value: inf})
	for name, c := range map[string]analysis.Curve{"empty": {}, "one empty step": {Steps: []load.Step{{Concurrency: 1}}}, "broken": broken} {
		var b bytes.Buffer
		if err := CurveJSON(&b, c); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !json.Valid(b.Bytes()) || strings.Count(b.String(), "\n}\n") != 1 {
			t.Errorf("%s: not one JSON document", name)
		}
		if _, err := ReadCurve(&b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCurveHasEveryFieldOfTheContract checks the names that scripts rely on,
// and null, [] and {} where nothing is known.
func TestCurveHasEveryFieldOfTheContract(t *testing.T) {
	b, err := MarshalCurve(analysis.Curve{Steps: []load.Step{{Concurrency: 8}}})
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	checkKeys(t, "", doc, "schema run steps knee estimates admission_limit cause recommended warnings")
	run := doc["run"].(map[string]any)
	checkKeys(t, "run", run, "id started tool target model label seed dataset_hash status stop_reason request settings truth")
	checkKeys(t, "request", run["request"], "input_tokens_asked input_tokens_got_mean output_tokens_asked stream dialect cache source")
	checkKeys(t, "settings", run["settings"], "window_ms measurements passes think_ms warmup")
	checkKeys(t, "knee", doc["knee"], "verdict concurrency lower_bound plateau_tokens_per_second slope_tokens_per_second_per_stream retrograde soft n95 method warnings")
	checkKeys(t, "recommended", doc["recommended"], "concurrency limited_by reason")
	step := doc["steps"].([]any)[0].(map[string]any)
	checkKeys(t, "step", step, `concurrency valid invalid_reason steady measurements output_tokens_per_second requests_per_second
		decode_tokens_per_second ttft_ms ttfc_ms connect_ms tpot_ms itl_ms icl_ms e2e_ms in_flight decode_concurrency littles_law
		waves started finished failed in_flight_at_end failures error_rate backoff_ms token_source hidden_share cached_share
		output_length_mean models connections_opened connections_reused replayed retries dispatch_delay_ms client warnings`)
	for _, dist := range strings.Fields("decode_tokens_per_second ttft_ms ttfc_ms connect_ms tpot_ms itl_ms icl_ms e2e_ms") {
		checkKeys(t, dist, step[dist], "p50 p90 p95 p99 mean")
		if v := step[dist].(map[string]any)["p50"]; v != nil {
			t.Errorf("%s.p50 is %v without values, want null", dist, v)
		}
	}
	checkKeys(t, "output", step["output_tokens_per_second"], "value lo hi")
	checkKeys(t, "in_flight", step["in_flight"], "mean peak")
	checkKeys(t, "decode_concurrency", step["decode_concurrency"], "mean mode p90 peak")
	checkKeys(t, "client", step["client"], "cpu lag_p99_ms bound")
	for name, want := range map[string]string{"measurements": "[]", "warnings": "[]", "failures": "{}", "models": "{}"} {
		if got, _ := json.Marshal(step[name]); string(got) != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"cause", "admission_limit"} {
		if doc[name] != nil {
			t.Errorf("%s is %v, want null", name, doc[name])
		}
	}
}

func checkKeys(t *testing.T, where string, object any, names string) {
	t.Helper()
	m, ok := object.(map[string]any)
	if !ok {
		t.Errorf("%s is %T, want an object", where, object)
		return
	}
	for _, name := range strings.Fields(names) {
		if _, ok := m[name]; !ok {
			t.Errorf("%s lacks %q", where, name)
		}
	}
}

func TestCurveTimesAreMilliseconds(t *testing.T) {
	c := analysis.Curve{Steps: []load.Step{{
		Concurrency: 1, TTFT: load.Dist{P50: 0.2001, Mean: 0.3, Count: 1}, Backoff: 1500 * time.Millisecond,
		Client: load.Some(load.ClientHealth{LagP99: 0.0123}),
	}}}
	b, err := MarshalCurve(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"p50": 200.1,`, `"mean": 300,`, `"backoff_ms": 1500,`, `"lag_p99_ms": 12.3,`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in the document", want)
		}
	}
}

func TestReadCurveSaysWhatIsWrong(t *testing.T) {
	good, err := MarshalCurve(analysis.Curve{Knee: knee.Result{Verdict: knee.TooFewLevels}, Steps: []load.Step{{Concurrency: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	with := func(from, to string) string { return strings.Replace(string(good), from, to, 1) }
	for _, c := range []struct{ doc, want string }{
		{"", "the document is empty"},
		{"{}", "names no schema"},
		{with("curve/v1", "curve/v2"), `schema "kneesweep/curve/v2" is newer than this program`},
		{with("curve/v1", "sample/v1"), `schema "kneesweep/sample/v1", want "kneesweep/curve/v1"`},
		{string(good[:100]), "the JSON is cut off at byte 100; copy the file again, or analyze the run's journal"},
		{"{\n\"schema\":\n", "line 2: the JSON is cut off at byte 12"},
		{"\ufeff" + string(good), "save it as UTF-8 without one"},
		{string(good) + "{}", "more than one JSON document"},
		{string(good) + "{}", "2 bytes follow byte"},
		{"{\"beat\":{}}\n{\"beat\":{}}\n", "line 1: more than one JSON document: 11 bytes follow byte 11; remove them, or, if this is a journal, put its first line back"},
		{"{\n\"schema\": oops\n}\n", "line 2: not JSON at byte 13; copy the file again"},
		{with(`"concurrency": 1`, `"concurrency": 1.5`), "holds the number 1.5, want a whole number; correct it"},
		{with(`"concurrency": 1`, `"concurrency": []`), "holds a list, want a whole number"},
		{with(`"valid": false`, `"valid": {}`), "holds an object, want true or false"},
		{`{"schema":"kneesweep/curve/v1","steps":true}`, "holds true or false, want a list"},
		{`{"schema":"kneesweep/curve/v1","run":"r"}`, "holds a string, want an object"},
		{`{"schema":"kneesweep/curve/v1","run":{"started":"noon"}}`, "; correct it, or analyze the run's journal"},
		{`{"schema": "kneesweep/curve/v1", "steps": [}`, "not JSON at byte 44"},
		{with(`"concurrency": 1`, `"concurrency": "x"`), `field "steps.concurrency" at byte`},
		{with(`"concurrency": 1`, `"concurrency": 0`), "steps[0].concurrency is 0, want at least 1; correct it"},
		{"concurrency,tok\n1,2\n", "not JSON at byte 1"},
	} {
		_, err := ReadCurve(strings.NewReader(c.doc))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
	}
}

func TestReadCurveSkipsUnknownFields(t *testing.T) {
	doc := `{"schema":"kneesweep/curve/v1","new":1,"steps":[{"concurrency":4,"newer":{}}]}`
	c, err := ReadCurve(strings.NewReader(doc))
	if err != nil || len(c.Steps) != 1 || c.Steps[0].Concurrency != 4 {
		t.Errorf("got %+v, %v", c.Steps, err)
	}
}

// What a table does not say is null, and stays so when read again.
func TestImportedLevelsInventNothing(t *testing.T) {
	c := analysis.Curve{Steps: []load.Step{{Concurrency: 1, Valid: true, Steady: true, Imported: true, Measurements: []float64{5}}}}
	b, err := MarshalCurve(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"steady", "requests_per_second", "waves", "started", "finished", "failed", "in_flight_at_end", "backoff_ms", "scaled_share",
		"connections_opened", "connections_reused", "replayed", "retries", "stream", "think_ms", "warmup", "max_error_rate",
	} {
		if !strings.Contains(string(b), `"`+key+`": null`) {
			t.Errorf("%s is not null", key)
		}
	}
	again, err := ReadCurve(bytes.NewReader(b))
	if err != nil || !again.Steps[0].Imported || !again.Steps[0].Steady {
		t.Errorf("read again: %+v, %v", again.Steps, err)
	}
}
