package config_test

import (
	"strings"
	"testing"

	"kneesweep/analysis/claims"
	"kneesweep/config"
)

func TestParseClaims(t *testing.T) {
	text := `tolerance: 2%
assume: {gpus: 1, streams: any, input-tokens: 512}
claims:
  - name: fast
    tokens-per-second: 1_200
    gpus: 2
    streams: 32
    input-tokens: 512
    output-tokens: 128
    tolerance: 0.1
    hardware: A100 80 GB
    source: "a page: of theirs"
  - ttft-ms: 99.5
    percentile: 95
  - speed-up: 4
    gpus: 4
  - ms-per-1000-tokens: 150
`
	got, err := config.ParseClaims("c.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if want := (claims.Conditions{GPUs: 1, Streams: claims.Any, InputTokens: 512}); got.Assume != want || got.Tolerance != 0.02 || got.Name != "c.yaml" {
		t.Errorf("%+v", got)
	}
	for i, want := range []claims.Claim{
		{Name: "fast", Kind: claims.Throughput, Value: 1200, Conditions: claims.Conditions{GPUs: 2, Streams: 32, InputTokens: 512, OutputTokens: 128},
			Tolerance: 0.1, Hardware: "A100 80 GB", Source: "a page: of theirs", Line: 4},
		{Name: "claim 2", Kind: claims.TTFT, Value: 99.5, Percentile: 95, Line: 13},
		{Name: "claim 3", Kind: claims.SpeedUp, Value: 4, Conditions: claims.Conditions{GPUs: 4}, Line: 15},
		{Name: "claim 4", Kind: claims.Stream, Value: 150, Line: 17},
	} {
		if got.Claims[i] != want {
			t.Errorf("claim %d: %+v, want %+v", i+1, got.Claims[i], want)
		}
	}
}

// TestClaimsRefused: each error names the line and what is expected.
func TestClaimsRefused(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "c.yaml:1: claims: there are none"},
		{"tolerance: 5%\n", "c.yaml:1: claims: there are none"},
		{"claims: 3\n", "c.yaml:1: claims: not a list"},
		{"claims:\n  - 3\n", "c.yaml:2: claims, number 1: not a map"},
		{"claims:\n  - tokens_per_second: 3\n", "c.yaml:2: tokens_per_second: no such key; tokens-per-second?"},
		{"claims:\n  - speed-up: 3\n    gpus: 2\n    colour: red\n", "c.yaml:4: colour: no such key; there are name, "},
		{"assume:\n  gpu: 3\nclaims:\n  - ttft-ms: 3\n", "c.yaml:2: gpu: no such key; gpus?"},
		{"assume: {gpus: any}\nclaims:\n  - ttft-ms: 3\n", `c.yaml:1: gpus: "any" is not a whole number of at least 1`},
		{"claims:\n  - ttft-ms: 3\n    streams: any\n", `c.yaml:3: streams: "any" is not a whole number of at least 1`},
		{"claims:\n  - ttft-ms: 3\n    streams: 1.5\n", `c.yaml:3: streams: "1.5" is not a whole number of at least 1`},
		{"claims:\n  - name: a\n", "c.yaml:2: a: no figure; give one of tokens-per-second, "},
		{"claims:\n  - ttft-ms: 3\n    tokens-per-second: 4\n", "c.yaml:2: claim 1: ttft-ms and tokens-per-second; a claim has one figure"},
		{"claims:\n  - ttft-ms: fast\n", `c.yaml:2: ttft-ms: "fast" is not a number above 0`},
		{"claims:\n  - ttft-ms: -1\n", `c.yaml:2: ttft-ms: "-1" is not a number above 0`},
		{"claims:\n  - ttft-ms: .inf\n", `c.yaml:2: ttft-ms: ".inf" is not a number above 0`},
		{"claims:\n  - ttft-ms: [1]\n", `c.yaml:2: ttft-ms: "" is not a number above 0`},
		{"claims:\n  - ttft-ms: 1\n    percentile: 80\n", `c.yaml:3: percentile: "80" is none of 50, 90, 95, 99`},
		{"claims:\n  - tokens-per-second: 1\n    percentile: 50\n", "c.yaml:2: claim 1: percentile: only ttft-ms has one"},
		{"claims:\n  - speed-up: 4\n", "c.yaml:2: claim 1: speed-up: give gpus, at least 2"},
		{"claims:\n  - ttft-ms: 1\n    tolerance: 120%\n", `c.yaml:3: tolerance: "120%" is not a share above 0 and below 1`},
		{"claims:\n  - ttft-ms: 1\n    ttft-ms: 2\n", "c.yaml:3: ttft-ms: given already in line 2"},
		{"claims:\n  - ttft-ms: !!int 1\n", "c.yaml:2: ttft-ms: a value begins with !"},
		{"claims:\n  - name:\n    ttft-ms: 1\n", "c.yaml:2: name: not a text"},
		{"claims: [\n", "c.yaml:1: not YAML"},
	} {
		_, err := config.ParseClaims("c.yaml", []byte(c.text))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	many := "claims:\n" + strings.Repeat("  - ttft-ms: 0\n", 12)
	if _, err := config.ParseClaims("c.yaml", []byte(many)); err == nil || strings.Count(err.Error(), "\n") != 10 || !strings.HasSuffix(err.Error(), "and 2 more") {
		t.Errorf("twelve problems: %v", err)
	}
}

func FuzzParseClaims(f *testing.F) {
	f.Add([]byte("claims:\n  - speed-up: 4\n    gpus: 4\n"))
	f.Add([]byte("assume: {streams: any}\nclaims: [{ttft-ms: 1, percentile: 99}]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := config.ParseClaims("c.yaml", data)
		if err != nil {
			return
		}
		for _, c := range file.Claims {
			if !(c.Value > 0) || c.Kind == "" {
				t.Errorf("%+v of %q", c, data)
			}
		}
		claims.Check(file, nil)
	})
}
