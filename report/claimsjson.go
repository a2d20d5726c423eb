package report

import (
	"io"

	"kneesweep/analysis/claims"
	"kneesweep/load"
)

// ClaimsSchema is the document of [ClaimsJSON].
const ClaimsSchema = "kneesweep/claims/v1"

type claimsJSON struct {
	Schema         string              `json:"schema"`
	File           string              `json:"file"`
	Confirmed      int                 `json:"confirmed"`
	Refuted        int                 `json:"refuted"`
	NotComparable  int                 `json:"not_comparable"`
	Claims         []claimJSON         `json:"claims"`
	Contradictions []contradictionJSON `json:"contradictions"`
	Scaling        []scaleJSON         `json:"scaling"`
}

type claimJSON struct {
	Name       string           `json:"name"`
	Line       int              `json:"line"`
	Kind       string           `json:"kind"`
	Value      number           `json:"value"`
	Unit       string           `json:"unit"`
	Percentile load.Opt[int]    `json:"percentile"`
	GPUs       load.Opt[int]    `json:"gpus"`
	Streams    load.Opt[int]    `json:"streams"`
	Input      load.Opt[int]    `json:"input_tokens"`
	Output     load.Opt[int]    `json:"output_tokens"`
	Assumed    []string         `json:"assumed"`
	Hardware   load.Opt[string] `json:"hardware"`
	Source     load.Opt[string] `json:"source"`
	Verdict    string           `json:"verdict"`
	Measured   *intervalJSON    `json:"measured"`
	Run        load.Opt[string] `json:"run"`
	At         load.Opt[int]    `json:"measured_at"`
	Reason     string           `json:"reason"`
}

type contradictionJSON struct {
	Claims []string `json:"claims"`
	Text   string   `json:"text"`
}

type scaleJSON struct {
	GPUs       int              `json:"gpus"`
	Run        string           `json:"run"`
	Throughput *intervalJSON    `json:"output_tokens_per_second"`
	Saturated  bool             `json:"saturated"`
	SpeedUp    *intervalJSON    `json:"speed_up"`
	Efficiency *intervalJSON    `json:"efficiency"`
	Note       load.Opt[string] `json:"note"`
}

// claimKinds are the names of the kinds in JSON, which are those of the keys.
var claimKinds = map[claims.Kind]string{
	claims.Throughput: "tokens_per_second", claims.Stream: "ms_per_1000_tokens", claims.TTFT: "ttft_ms", claims.SpeedUp: "speed_up",
}

// ClaimsJSON writes what became of claims as one strict JSON document. Its errors are
// those of w.
func ClaimsJSON(w io.Writer, r claims.Result) error {
	j := claimsJSON{
		Schema: ClaimsSchema, File: r.File.Name, Confirmed: r.Count(claims.Confirmed), Refuted: r.Count(claims.Refuted), NotComparable: r.Count(claims.NotComparable),
		Claims: []claimJSON{}, Contradictions: []contradictionJSON{}, Scaling: []scaleJSON{},
	}
	for _, f := range r.Findings {
		c := f.Claim
		j.Claims = append(j.Claims, claimJSON{
			Name: c.Name, Line: c.Line, Kind: claimKinds[c.Kind], Value: finite(c.Value), Unit: string(c.Kind), Percentile: positive(c.Percentile),
			GPUs: positive(c.Conditions.GPUs), Streams: positive(c.Conditions.Streams), Input: positive(c.Conditions.InputTokens), Output: positive(c.Conditions.OutputTokens),
			Assumed: list(f.Assumed), Hardware: text(c.Hardware), Source: text(c.Source),
			Verdict: string(f.Verdict), Measured: intervalOrNull(f.Measured), Run: text(f.Run), At: f.Streams, Reason: f.Reason,
		})
	}
	for _, c := range r.Contradictions {
		names := make([]string, len(c.Claims))
		for i, at := range c.Claims {
			names[i] = r.File.Claims[at].Name
		}
		j.Contradictions = append(j.Contradictions, contradictionJSON{names, c.Text})
	}
	for _, s := range r.Scaling {
		j.Scaling = append(j.Scaling, scaleJSON{
			s.GPUs, s.Run, intervalOrNull(s.Throughput), s.Saturated, intervalOrNull(s.SpeedUp), intervalOrNull(s.Efficiency), text(s.Note),
		})
	}
	b, err := document(j)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
