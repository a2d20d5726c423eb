package main

import (
	"encoding/csv"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// levelRow begins the row of N = 4 on a page, with the mark of a level that the busy
// machine may give it.
var levelRow = regexp.MustCompile(`<th scope="row">(<code>.</code> )?4</th>`)

// A sweep of a single level leaves a table, a report and a figure with one level
// in it (vllm-project/guidellm#608, #761: data in the file, an empty page).
func TestSweepOfOneLevel(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	url := endpoint(t, func(next served) served { return next })
	r := command(quick("--url", url, "--model", "sim", "--output-tokens", "5", "--levels", "4", "--max-error-rate", "1", "--out", dir)...)
	if !swept(r) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	if !strings.Contains(r.out, "       4  ") {
		t.Errorf("the table has no row for N = 4:\n%s", r.out)
	}
	if report := read(t, filepath.Join(dir, reportFile)); !strings.Contains(report, "\n| 4 | ") || !strings.Contains(report, figureFile) {
		t.Errorf("the report lacks the row or the figure:\n%s", report)
	}
	if page := read(t, filepath.Join(dir, pageFile)); !levelRow.MatchString(page) || !strings.Contains(page, `"levels":[{"n":4,`) {
		t.Error("the page lacks the row or the level in its chart")
	}
	doc := object(t, read(t, filepath.Join(dir, curveFile)))
	steps := doc["steps"].([]any)
	if at(t, doc, "knee.verdict") != "too_few_levels" || at(t, doc, "knee.concurrency") != nil || len(steps) != 1 {
		t.Fatalf("knee %v of %d steps", doc["knee"], len(steps))
	}
	if at(t, steps[0], "valid") != true {
		t.Skipf("the machine is too busy to measure a level: %v", at(t, steps[0], "invalid_reason"))
	}
	checkMarks(t, filepath.Join(dir, figureFile))
}

// checkMarks wants the marks of the medians at one place across the panel of
// throughput, which is between the legend and the middle of the figure.
func checkMarks(t *testing.T, file string) {
	t.Helper()
	img, err := png.Decode(strings.NewReader(read(t, file)))
	if err != nil {
		t.Fatal(err)
	}
	blue := color.RGBAModel.Convert(color.RGBA{0x00, 0x72, 0xB2, 0xFF})
	b := img.Bounds()
	var marks image.Rectangle
	for y := b.Min.Y + b.Dy()/5; y < b.Min.Y+b.Dy()/2; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == blue {
				marks = marks.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if marks.Empty() || marks.Dx() > b.Dx()/20 {
		t.Errorf("the marks span %v of %v, want one place", marks, b)
	}
}

// What a step does not define is null in a file that is there and is JSON: a step
// without a success, and answers of one token, which have no time between tokens
// (vllm-project/vllm-omni#6976, modelscope/evalscope#1159).
func TestUndefinedFiguresAreNull(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	broken := func(next served) served {
		if asked.Add(1) == 1 { // the preflight
			return next
		}
		return says(500, "application/json", `{"error":{"message":"out of memory"}}`)
	}
	sound := func(next served) served { return next }
	for _, c := range []struct {
		name    string
		answer  func(served) served
		tokens  string
		success bool
		null    string // of the first step
	}{
		{"no success", broken, "5", false, `output_tokens_per_second.value output_tokens_per_second.lo ttft_ms.p50 ttft_ms.mean
			e2e_ms.p50 tpot_ms.p50 itl_ms.mean decode_tokens_per_second.p50 output_length_mean littles_law`},
		{"one token per answer", sound, "1", true, `tpot_ms.p50 tpot_ms.p99 tpot_ms.mean itl_ms.p50 itl_ms.mean icl_ms.mean
			decode_tokens_per_second.p50 decode_tokens_per_second.mean decode_concurrency.mode`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			r := command(quick("--url", endpoint(t, c.answer), "--model", "sim", "--output-tokens", c.tokens, "--levels", "2,3", "--out", dir)...)
			if !swept(r) {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			text := read(t, filepath.Join(dir, curveFile))
			step := object(t, text)["steps"].([]any)[0]
			undefined(t, step, c.null)
			emptyCells(t, dir, c.null)
			if finished := at(t, step, "finished").(float64); finished > 0 != c.success {
				t.Errorf("%g requests succeeded", finished)
			}
			for _, word := range []string{"NaN", "Inf", ": -1,"} {
				if strings.Contains(text, word) || strings.Contains(r.out, word) {
					t.Errorf("%q stands in curve.json or in the table", word)
				}
			}
		})
	}
}

// emptyCells wants the undefined figures of the first step, which are named as in
// curve.json, to be empty in the CSV export.
func emptyCells(t *testing.T, dir, null string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "steps.csv")
	if r := command("export", dir, "-o", file); r.code != 0 {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	text := read(t, file)
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
		t.Fatalf("%v\n%s", err, text)
	}
	for name := range strings.FieldsSeq(null) {
		figure, stat, _ := strings.Cut(name, ".")
		column := strings.TrimSuffix(figure+"_"+stat, "_value")
		if before, unit, ok := strings.Cut(figure, "_ms"); ok && unit == "" {
			column = before + "_" + stat + "_ms"
		}
		if figure == "decode_tokens_per_second" {
			column = "decode_" + stat + "_tokens_per_second"
		}
		i := slices.Index(lines[0], strings.TrimSuffix(column, "_"))
		if i < 0 || lines[1][i] != "" {
			t.Errorf("the column %s (number %d) of %s is not there and empty", column, i, name)
		}
	}
}
