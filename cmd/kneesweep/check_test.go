package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"kneesweep/analysis"
	"kneesweep/analysis/knee"
	"kneesweep/gate"
	"kneesweep/load"
	"kneesweep/report"
)

// kneeAt16 is a table whose knee is at 16 streams.
const (
	kneeLevels = "1,2,4,8,16,32,64"
	kneeRates  = "50,100,200,400,800,800,800"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	good := write(t, "good.csv", csvOf(kneeLevels, kneeRates))
	bad := write(t, "bad.csv", csvOf("1,2,4,8", "0,0,0,0"))
	broken := write(t, "broken.json", `{"schema":`)
	const holds, fails, null, wrong = "knee.concurrency >= 15", "knee.concurrency >= 32", "knee.rise_per_doubling >= 0", "knee.x > 1"
	for _, c := range []struct {
		name string
		code int
		args []string
	}{
		{"holds", 0, []string{good, "--require", holds}},
		{"flags first", 0, []string{"--require", holds, good}},
		{"several hold", 0, []string{"--require", holds, good, "--require", `run.label != "a,b" or knee.verdict == 'knee'`}},
		{"one fails", exitMissed, []string{good, "--require", holds, "--require", fails}},
		{"null", exitNoCurve, []string{good, "--require", null}},
		{"null and fails", exitNoCurve, []string{good, "--require", fails, "--require", null}},
		{"null that does not matter", 0, []string{good, "--require", holds + " or " + null}},
		{"nothing valid", exitNoCurve, []string{bad, "--require", `knee.verdict == "too_few_levels"`}},
		{"nothing valid and fails", exitNoCurve, []string{bad, "--require", `knee.verdict == "knee"`}},
		{"unreadable", exitFailed, []string{broken, "--require", null}},
		{"no such file", exitFailed, []string{good + "x", "--require", holds}},
		{"bad expression, unreadable", exitUsage, []string{broken, "--require", wrong, "--require", holds}},
		{"empty expression", exitUsage, []string{good, "--require", ""}},
		{"no expression", exitUsage, []string{good}},
		{"no file", exitUsage, []string{"--require", holds}},
		{"two files", exitUsage, []string{good, good, "--require", holds}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := command(append([]string{"check"}, c.args...)...)
			if r.code != c.code || (r.out == "") != (c.code == exitFailed || c.code == exitUsage) {
				t.Fatalf("exit %d, want %d; %s%s", r.code, c.code, r.out, r.err)
			}
			j := command(append([]string{"check", "--json"}, c.args...)...)
			if j.code != c.code || j.err != r.err {
				t.Errorf("--json: exit %d, %s", j.code, j.err)
			}
			if r.out == "" {
				return
			}
			want, known := map[int]any{0: true, exitMissed: false, exitNoCurve: nil}[c.code]
			if doc := object(t, j.out); doc["schema"] != checkSchema || doc["holds"] != want || !known {
				t.Errorf("got %s", j.out)
			}
		})
	}
}

// TestCheckOutput is what people and scripts read.
func TestCheckOutput(t *testing.T) {
	t.Parallel()
	file := write(t, "a.csv", csvOf(kneeLevels, kneeRates))
	args := []string{"check", file, "--require", "max(steps.output_tokens_per_second)>=0.8k", "--require", `knee.verdict != "knee"`, "--require", "at(3).valid"}
	r := command(args...)
	want := `holds  max(steps.output_tokens_per_second)>=0.8k  max(steps.output_tokens_per_second) is 800 at N = 16
fails  knee.verdict != "knee"                     knee.verdict is "knee"
null   at(3).valid                                at(3).valid is null, that level was not measured
`
	if r.out != want || r.err != "kneesweep: 1 of 3 gates ask for a value that is null\n" {
		t.Errorf("got\n%s%s", r.out, r.err)
	}
	gates := object(t, command(append(args, "--json")...).out)["gates"].([]any)
	for i, want := range []string{
		`{"holds":true,"require":"max(steps.output_tokens_per_second)>=0.8k","text":"max(steps.output_tokens_per_second) is 800 at N = 16","value":800}`,
		`{"holds":false,"require":"knee.verdict != \"knee\"","text":"knee.verdict is \"knee\"","value":"knee"}`,
		`{"holds":null,"require":"at(3).valid","text":"at(3).valid is null, that level was not measured","value":null}`,
	} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(gates[i]); err != nil || strings.TrimSpace(b.String()) != want {
			t.Errorf("got %s, want %s", b.String(), want)
		}
	}
	r = command("check", file, "--require", "knee.concurency > 1", "--require", "knee.n95 > 2 > 1")
	want = `kneesweep: --require: not an expression that can be checked:
kneesweep: knee.concurency > 1
kneesweep:      ^ want a known field: concurrency?
kneesweep: --require: not an expression that can be checked:
kneesweep: knee.n95 > 2 > 1
kneesweep:              ^ want one operator in a comparison; join two comparisons with and
`
	if r.code != exitUsage || !strings.HasPrefix(r.err, want) {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
}

// TestCheckReadsWhatASweepLeft gives one answer for the folder, the curve and the
// journal.
func TestCheckReadsWhatASweepLeft(t *testing.T) {
	t.Parallel()
	dir := shared().dir
	args := []string{"check", "--json", "--require", `at(4).started >= 1 and run.status == "complete"`}
	want := command(append(args, dir)...)
	if want.code != 0 && want.code != exitNoCurve { // whether a level is valid depends on the machine
		t.Fatalf("exit %d: %s", want.code, want.err)
	}
	for _, file := range []string{curveFile, journalFile} {
		if got := command(append(args, filepath.Join(dir, file))...); got != want {
			t.Errorf("%s: exit %d, %s%s", file, got.code, got.out, got.err)
		}
	}
}

// TestGatesKnowEveryField walks a whole curve and asks for each of its fields: one
// that is new in the schema needs a place in gate/fields.go.
func TestGatesKnowEveryField(t *testing.T) {
	t.Parallel()
	curves, err := readCurves([]string{write(t, "a.csv", csvOf(kneeLevels, kneeRates))}, io.Discard, "ttft_p95<=500ms")
	if err != nil {
		t.Fatal(err)
	}
	curve := curves[0]
	curve.Run.Truth, curve.Cause = &load.Truth{Knee: 1}, &analysis.Cause{Name: "compute"}
	curve.Knee.Retrograde, curve.Knee.Fit = &knee.Retrograde{From: 1}, &knee.Segment{K: 1}
	curve.Knee.Concurrency, curve.Admission = load.Some(load.Estimate{Value: 1}), load.Some(load.Estimate{Value: 1})
	b, err := report.MarshalCurve(curve)
	if err != nil {
		t.Fatal(err)
	}
	fields := 0
	var walk func(prefix string, object map[string]any)
	walk = func(prefix string, object map[string]any) {
		for name, v := range object {
			path := prefix + name
			members, isObject := v.(map[string]any)
			switch {
			case path == "steps":
				walk("at(1).", v.([]any)[0].(map[string]any))
				continue
			case isObject:
				walk(path+".", members)
			}
			fields++
			expr := path + map[string]string{"float64": " >= 0", "bool": "", "string": ` != null`, "<nil>": " == null"}[fmt.Sprintf("%T", v)]
			if isObject {
				expr = path + " != null"
			}
			_, err := gate.Parse(expr)
			if err != nil && !strings.Contains(err.Error(), "is a list") && !strings.Contains(err.Error(), "one count of the map") {
				t.Errorf("gates do not know a field:\n%v", err)
			}
		}
	}
	walk("", object(t, string(b)))
	if fields < 150 {
		t.Errorf("%d fields were found, that cannot be all", fields)
	}
}

// TestGatesDocumentation reads the examples of docs/gates.md in blocks marked gate,
// and runs its commands.
func TestGatesDocumentation(t *testing.T) {
	t.Parallel()
	const page = "../../docs/gates.md"
	for _, line := range readmeCommands(t, page) {
		if r := command(documented(t, line, "")...); r.code != 0 {
			t.Errorf("%s: exit %d: %s", line, r.code, r.err)
		}
	}
	n := 0
	for i, block := range strings.Split(read(t, page), "```") {
		lines, ok := strings.CutPrefix(block, "gate\n")
		if i%2 == 0 || !ok {
			continue
		}
		for line := range strings.Lines(lines) {
			expr, _, _ := strings.Cut(strings.TrimSpace(line), "  #")
			n++
			if _, err := gate.Parse(expr); err != nil {
				t.Error(err)
			}
		}
	}
	if n < 8 {
		t.Errorf("docs/gates.md has %d examples: are they in blocks marked gate?", n)
	}
}
