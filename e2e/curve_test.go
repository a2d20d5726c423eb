//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// curve is what the test reads of kneesweep/curve/v1, written down here a second
// time so that a renamed field is noticed.
type curve struct {
	Schema string `json:"schema"`
	Run    struct {
		Status     string `json:"status"`
		StopReason string `json:"stop_reason"`
	} `json:"run"`
	Steps []step `json:"steps"`
	Knee  struct {
		Verdict     string    `json:"verdict"`
		Concurrency *estimate `json:"concurrency"`
	} `json:"knee"`
	AdmissionLimit *estimate `json:"admission_limit"`
	Cause          *struct {
		Name     string   `json:"name"`
		Evidence []string `json:"evidence"`
	} `json:"cause"`
	Recommended struct {
		Concurrency *int   `json:"concurrency"`
		Reason      string `json:"reason"`
	} `json:"recommended"`
}

type step struct {
	Concurrency       int            `json:"concurrency"`
	Valid             bool           `json:"valid"`
	InvalidReason     *string        `json:"invalid_reason"`
	Throughput        *estimate      `json:"output_tokens_per_second"`
	TTFT              quantiles      `json:"ttft_ms"`
	ITL               quantiles      `json:"itl_ms"`
	E2E               quantiles      `json:"e2e_ms"`
	Models            map[string]int `json:"models"`
	DecodeConcurrency map[string]any `json:"decode_concurrency"`
	Finished          int            `json:"finished"`
	Failed            int            `json:"failed"`
	Failures          map[string]int `json:"failures"`
	TokenSource       string         `json:"token_source"`
}

type estimate struct{ Value, Lo, Hi float64 }

func (e *estimate) String() string {
	if e == nil {
		return "none"
	}
	return fmt.Sprintf("%.4g [%.4g, %.4g]", e.Value, e.Lo, e.Hi)
}

type quantiles struct{ P50, P95 *float64 }

func ms(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f", *v)
}

// table shows a curve in the test's log.
func (c curve) table() string {
	var b strings.Builder
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "N\ttok/s\tTTFT p50 ms\tTTFT p95 ms\tITL p50 ms\tD mode\tfinished\tfailed\ttokens from\t")
	for _, s := range c.Steps {
		rate := "-"
		if s.Throughput != nil {
			rate = fmt.Sprintf("%.0f", s.Throughput.Value)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%v\t%d\t%d\t%s\t\n", s.Concurrency, rate, ms(s.TTFT.P50), ms(s.TTFT.P95),
			ms(s.ITL.P50), s.DecodeConcurrency["mode"], s.Finished, s.Failed, s.TokenSource)
	}
	w.Flush()
	for _, s := range c.Steps {
		if s.InvalidReason != nil {
			fmt.Fprintf(&b, "N = %d is not valid: %s\n", s.Concurrency, *s.InvalidReason)
		}
	}
	fmt.Fprintf(&b, "verdict %s, knee %v, admission limit %v\n", c.Knee.Verdict, c.Knee.Concurrency, c.AdmissionLimit)
	if c.Cause != nil {
		fmt.Fprintf(&b, "cause %s: %s\n", c.Cause.Name, strings.Join(c.Cause.Evidence, "; "))
	}
	fmt.Fprintf(&b, "recommended: %s\n", c.Recommended.Reason)
	return b.String()
}

// at returns the step at a level.
func (c curve) at(t *testing.T, concurrency int) step {
	t.Helper()
	i := slices.IndexFunc(c.Steps, func(s step) bool { return s.Concurrency == concurrency })
	if i < 0 {
		t.Fatalf("no step at concurrency %d", concurrency)
	}
	return c.Steps[i]
}

// decode reads exactly one JSON document.
func decode(t *testing.T, document []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(document))
	d.UseNumber() // digits as written, so that "the same" means every digit
	if err := d.Decode(v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, lastBytes(document, 1000))
	}
	if d.More() {
		t.Fatalf("more than one JSON document:\n%s", lastBytes(document, 1000))
	}
}

// sameJSON reports where two documents differ.
func sameJSON(t *testing.T, what string, got, want []byte) {
	t.Helper()
	var g, w any
	decode(t, got, &g)
	decode(t, want, &w)
	for _, d := range differences("", g, w) {
		t.Errorf("%s: %s", what, d)
	}
}

// differences lists the paths at which two decoded documents differ.
func differences(path string, got, want any) []string {
	switch g := got.(type) {
	case map[string]any:
		if w, ok := want.(map[string]any); ok {
			return fieldDifferences(path, g, w)
		}
	case []any:
		if w, ok := want.([]any); ok && len(g) == len(w) {
			var all []string
			for i := range g {
				all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), g[i], w[i])...)
			}
			return all
		}
	}
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return []string{fmt.Sprintf("%s = %v, want %v", path, got, want)}
}

func fieldDifferences(path string, got, want map[string]any) []string {
	var all []string
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if g, ok := got[k]; ok {
			all = append(all, differences(path+"."+k, g, want[k])...)
		} else {
			all = append(all, path+"."+k+" is missing")
		}
	}
	for _, k := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[k]; !ok {
			all = append(all, path+"."+k+" is not wanted")
		}
	}
	return all
}

// readOutput returns the one file in dir whose name matches, which must not be empty.
func readOutput(t *testing.T, dir, pattern string) (path string, content []byte) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Fatalf("%d files %s in the output folder, want 1", len(found), pattern)
	}
	content, err = os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if len(content) == 0 {
		t.Errorf("%s is empty", found[0])
	}
	return found[0], content
}

// checkFigure asks for a picture that can be decoded and is large enough to read.
func checkFigure(t *testing.T, dir, name string) {
	t.Helper()
	path, content := readOutput(t, dir, name)
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if size := picture.Bounds().Size(); size.X < 400 || size.Y < 300 {
		t.Errorf("%s has %d × %d pixels, want at least 400 × 300", path, size.X, size.Y)
	}
}
