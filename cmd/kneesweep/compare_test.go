package main

import (
	"encoding/json"
	"fmt"
	"image/png"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kneesweep/report"
)

// curveWith is a curve.json of a table whose run was changed.
func curveWith(t *testing.T, csv string, change func(run map[string]any)) string {
	t.Helper()
	doc := object(t, command("analyze", "--json", csv).out)
	run := doc["run"].(map[string]any)
	run["settings"].(map[string]any)["passes"] = 2
	run["model"] = "m"
	change(run)
	b, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "curve.json", string(b))
}

// repeated is a table with five windows a level within 1 % of each rate.
func repeated(levels, rates []float64) string {
	var b strings.Builder
	b.WriteString("concurrency,output_tokens_per_second\n")
	for i, n := range levels {
		for k := range 5 {
			fmt.Fprintf(&b, "%g,%g\n", n, rates[i]*(0.99+0.005*float64((k+2*i)%5)))
		}
	}
	return b.String()
}

func scaled(factor float64) string {
	rates := []float64{50, 100, 200, 400, 800, 800, 800}
	for i := range rates {
		rates[i] *= factor
	}
	return repeated([]float64{1, 2, 4, 8, 16, 32, 64}, rates)
}

func TestCompareExitCodes(t *testing.T) {
	t.Parallel()
	good, slow, fast := write(t, "good.csv", scaled(1)), write(t, "slow.csv", scaled(0.8)), write(t, "fast.csv", scaled(1.2))
	other := write(t, "other.csv", repeated([]float64{3, 5, 7}, []float64{1, 2, 3}))
	bad := write(t, "bad.csv", csvOf("1,2,4,8", "0,0,0,0"))
	near1, near2, near3 := write(t, "a.csv", scaled(1.01)), write(t, "b.csv", scaled(0.98)), write(t, "c.csv", scaled(1.02))
	for _, c := range []struct {
		name, verdict string
		code          int
		files         []string
	}{
		{"the same", "equivalent", 0, []string{good, good}},
		{"slower", "regression", exitMissed, []string{good, slow}},
		{"faster", "improvement", 0, []string{good, fast}},
		{"slower than several", "regression", exitMissed, []string{good, near1, near2, near3, slow}},
		{"among several", "no_evidence", 0, []string{good, near1, near2, near3, near2}},
		{"nothing in common", "cannot_tell", exitNoCurve, []string{good, other}},
		{"nothing valid", "cannot_tell", exitNoCurve, []string{good, bad}},
		{"nothing valid before", "cannot_tell", exitNoCurve, []string{bad, good}},
		{"files of another tool", "cannot_tell", exitNoCurve, []string{"../../testdata/peers/vllm-4.json", "../../testdata/peers/vllm-4.json"}},
		{"no such file", "", exitFailed, []string{good, good + "x"}},
		{"broken", "", exitFailed, []string{write(t, "broken.json", `{"schema":`), good}},
		{"one file", "", exitUsage, []string{good}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := command(append([]string{"compare"}, c.files...)...)
			j := command(append([]string{"compare", "--json"}, c.files...)...)
			m := command(append([]string{"compare", "--markdown"}, c.files...)...)
			if r.code != c.code || j.code != c.code || m.code != c.code {
				t.Fatalf("exit %d, %d, %d, want %d; %s%s", r.code, j.code, m.code, c.code, r.out, r.err)
			}
			if c.verdict == "" {
				if r.out+j.out+m.out != "" || r.err == "" {
					t.Errorf("printed %s", r.out)
				}
				return
			}
			doc := object(t, j.out)
			if doc["schema"] != report.ComparisonSchema || doc["verdict"] != c.verdict {
				t.Errorf("%v of %v: %v", doc["verdict"], doc["schema"], doc["text"])
			}
			text := strings.Join(strings.Fields(r.out), " ")
			if !strings.HasSuffix(text, doc["text"].(string)) {
				t.Errorf("the last sentence is not %q:\n%s", doc["text"], r.out)
			}
		})
	}
}

// Runs that did other work are refused with what differs and both values; those
// that differ in name only are compared (aws-samples/aws-do-eks#89,
// xdCloudy/LlamaManager#55).
func TestCompareRefusesOtherWork(t *testing.T) {
	t.Parallel()
	csv := write(t, "a.csv", scaled(1))
	asked := func(n int, label string) string {
		return curveWith(t, csv, func(run map[string]any) {
			run["request"].(map[string]any)["output_tokens_asked"] = n
			run["label"] = label
		})
	}
	a, b, c := asked(128, "a"), asked(512, "a"), asked(128, "b")
	r := command("compare", a, b)
	if r.code != exitUsage || r.out != "" || !strings.Contains(r.err, "request.output_tokens_asked: OLD 128, NEW 512") || strings.Contains(r.err, "label") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	r = command("compare", a, b, "--force")
	if r.code != 0 || !strings.Contains(r.out, "request.output_tokens_asked: 128 → 512 (forbids a comparison)") || !strings.Contains(r.out, "though the runs did not") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if doc := object(t, command("compare", a, b, "--force", "--json").out); doc["forced"] != true {
		t.Errorf("forced is %v", doc["forced"])
	}
	r = command("compare", a, c)
	if r.code != 0 || r.err != "" || !strings.Contains(r.out, "label: a → b") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if r = command("compare", a, a, a, b); r.code != exitUsage {
		t.Errorf("three runs and one of other work: exit %d", r.code)
	}
}

// TestCompareShowsWhatIsMissing compares the common levels and names the others.
func TestCompareShowsWhatIsMissing(t *testing.T) {
	t.Parallel()
	a := write(t, "a.csv", repeated([]float64{1, 2, 4, 8, 16}, []float64{1, 2, 4, 8, 8}))
	b := write(t, "b.csv", repeated([]float64{1, 4, 8, 16, 32}, []float64{1, 4, 8, 8, 8}))
	r := command("compare", a, b)
	doc := object(t, command("compare", a, b, "--json").out)
	if len(doc["steps"].([]any)) != 4 || len(doc["missing"].([]any)) != 2 {
		t.Errorf("steps %v, missing %v", doc["steps"], doc["missing"])
	}
	for _, want := range []string{"N = 2 is not compared: in NEW not measured.", "N = 32 is not compared: in OLD not measured."} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
}

// TestCompareFigure draws both curves, and leaves no picture of what is refused.
func TestCompareFigure(t *testing.T) {
	t.Parallel()
	a, b := write(t, "a.csv", scaled(1)), write(t, "b.csv", scaled(0.8))
	out := filepath.Join(t.TempDir(), "x.png")
	if r := command("compare", a, b, "-o", out); r.code != exitMissed || r.err != "" {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if _, err := png.Decode(strings.NewReader(read(t, out))); err != nil {
		t.Error(err)
	}
	if r := command("compare", a, b, "-o", filepath.Join(out, "x.png")); r.code != exitFailed || r.out != "" {
		t.Errorf("exit %d for a picture that cannot be written, stdout %q", r.code, r.out)
	}
}

// TestCompareUsesSingleRequests gives TTFT an interval from journals, none from
// curves, and takes a folder for its journal.
func TestCompareUsesSingleRequests(t *testing.T) {
	t.Parallel()
	dir := shared().dir
	bounds := func(file string) (known int) {
		steps, _ := object(t, command("compare", file, file, "--json").out)["steps"].([]any)
		for _, s := range steps {
			if at(t, s, "ttft_p50_ms.ratio.lo") != nil {
				known++
			}
		}
		return known
	}
	levels := len(object(t, command("compare", dir, dir, "--json").out)["steps"].([]any))
	journal, curve, folder := bounds(filepath.Join(dir, journalFile)), bounds(filepath.Join(dir, curveFile)), bounds(dir)
	if curve != 0 || folder != journal || levels > 0 && journal == 0 {
		t.Errorf("of %d levels %d have an interval with the journal, %d with the folder, %d with the curve", levels, journal, folder, curve)
	}
}

// A key stands in no comparison (NVIDIA-NeMo/Guardrails#1501), and a file from
// elsewhere cannot steer the terminal by it.
func TestCompareKeepsSecretsAndIsTame(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	url := endpoint(t, func(next served) served { return next })
	if r := command(quick("--url", strings.Replace(url, "http://", "http://user:"+testKey+"@", 1), "--model", embeddedModel, "--api-key-env", keyVariable, "--header", "X-Extra: "+testKey, "--out", dir)...); !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	csv := write(t, "a.csv", scaled(1))
	evil := curveWith(t, csv, func(run map[string]any) {
		run["model"], run["label"], run["target"], run["tool"] = "m\x1b[2J", "\x07", "t\x1b]0;x\x07", "k\x1b[31m"
	})
	good := curveWith(t, csv, func(run map[string]any) { run["started"] = time.Unix(0, 0) })
	for _, args := range [][]string{{dir, dir}, {evil, good, "--force"}, {good, evil}, {good, evil, "--force", "--markdown"}, {good, evil, "--force", "--json"}} {
		r := command(append([]string{"compare"}, args...)...)
		if strings.Contains(r.out+r.err, testKey) || strings.ContainsAny(r.out+r.err, "\x1b\x07") || strings.Contains(r.out, `\u001b`) {
			t.Errorf("%v: exit %d, %q%q", args, r.code, r.out, r.err)
		}
	}
}
