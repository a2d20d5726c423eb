package report

import (
	"io"

	"kneesweep/analysis/compare"
	"kneesweep/load"
)

// ComparisonSchema is that of [ComparisonJSON].
const ComparisonSchema = "kneesweep/comparison/v1"

type comparisonJSON struct {
	Schema      string           `json:"schema"`
	Verdict     string           `json:"verdict"`
	Text        string           `json:"text"`
	ByHistory   bool             `json:"by_history"`
	Paired      bool             `json:"paired"`
	OldRuns     int              `json:"old_runs"`
	MinEffect   number           `json:"min_effect"`
	Forced      bool             `json:"forced"`
	Old         runJSON          `json:"old"`
	New         runJSON          `json:"new"`
	Differences []differenceJSON `json:"differences"`
	Figures     figuresJSON      `json:"figures"`
	Knee        movedJSON        `json:"knee"`
	Recommended allowedJSON      `json:"recommended"`
	Steps       []comparedJSON   `json:"steps"`
	Missing     []missingJSON    `json:"missing"`
	Warnings    []load.Warning   `json:"warnings"`
}

// differenceJSON is a field in which the accounts differ; its kind is forbids,
// weakens or expected.
type differenceJSON struct {
	Field string `json:"field"`
	Old   string `json:"old"`
	New   string `json:"new"`
	Kind  string `json:"kind"`
}

// figuresJSON are the figures of whole curves, null where a run has none.
type figuresJSON struct {
	Throughput *changeJSON `json:"output_tokens_per_second"`
	Plateau    *changeJSON `json:"plateau_tokens_per_second"`
	TTFT50     *changeJSON `json:"ttft_p50_ms"`
	TTFT95     *changeJSON `json:"ttft_p95_ms"`
}

type changeJSON struct {
	Old        number           `json:"old"`
	New        number           `json:"new"`
	Ratio      intervalJSON     `json:"ratio"`
	P          number           `json:"p"`
	Adjusted   number           `json:"adjusted_p"`
	Judgement  load.Opt[string] `json:"judgement"`
	Detectable number           `json:"detectable"`
	History    *historyJSON     `json:"history"`
}

type historyJSON struct {
	Runs      int              `json:"runs"`
	Mean      number           `json:"mean"`
	SD        number           `json:"sd"`
	Value     number           `json:"value"`
	Change    number           `json:"change"`
	Z         number           `json:"z"`
	Lo        number           `json:"lo"`
	Hi        number           `json:"hi"`
	P         number           `json:"p"`
	Adjusted  number           `json:"adjusted_p"`
	Judgement load.Opt[string] `json:"judgement"`
}

type movedJSON struct {
	Old        *intervalJSON `json:"old"`
	New        *intervalJSON `json:"new"`
	Difference *intervalJSON `json:"difference"`
	P          number        `json:"p"`
}

type allowedJSON struct {
	Old load.Opt[int] `json:"old"`
	New load.Opt[int] `json:"new"`
}

type comparedJSON struct {
	Concurrency int         `json:"concurrency"`
	Throughput  *changeJSON `json:"output_tokens_per_second"`
	TTFT50      *changeJSON `json:"ttft_p50_ms"`
	TTFT95      *changeJSON `json:"ttft_p95_ms"`
}

// missingJSON says why a level is not compared; null = the run has it.
type missingJSON struct {
	Concurrency int              `json:"concurrency"`
	Old         load.Opt[string] `json:"old"`
	New         load.Opt[string] `json:"new"`
}

// ComparisonJSON writes a comparison as one strict JSON document of
// [ComparisonSchema]. Times are milliseconds; what is undefined is null. Its errors
// are those of w.
func ComparisonJSON(w io.Writer, c compare.Comparison) error {
	b, err := document(comparisonOf(c))
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func comparisonOf(c compare.Comparison) comparisonJSON {
	j := comparisonJSON{
		Schema: ComparisonSchema, Verdict: string(c.Verdict), Text: ComparisonVerdict(c), ByHistory: c.ByHistory, Paired: c.Paired, OldRuns: c.Runs,
		MinEffect: finite(c.MinEffect), Forced: c.Forced(), Old: runOf(c.Old), New: runOf(c.New),
		Knee:        movedJSON{intervalOrNull(c.Knee.Old), intervalOrNull(c.Knee.New), intervalOrNull(c.Knee.By), finiteOpt(c.Knee.P)},
		Recommended: allowedJSON{c.Recommended.Old, c.Recommended.New}, Warnings: list(c.Warnings),
		Differences: []differenceJSON{}, Steps: []comparedJSON{}, Missing: []missingJSON{},
	}
	for _, d := range c.Differences {
		kind := "weakens"
		switch {
		case d.Fatal:
			kind = "forbids"
		case d.Expected:
			kind = "expected"
		}
		j.Differences = append(j.Differences, differenceJSON{d.Field, d.Old, d.New, kind})
	}
	for _, f := range c.Figures {
		_, scale := figureName(f.Name)
		change := changeOf(f.Change, f.History, scale)
		switch f.Name {
		case compare.FigureThroughput:
			j.Figures.Throughput = change
		case compare.FigurePlateau:
			j.Figures.Plateau = change
		case compare.FigureTTFT50:
			j.Figures.TTFT50 = change
		case compare.FigureTTFT95:
			j.Figures.TTFT95 = change
		}
	}
	for _, l := range c.Levels {
		step := comparedJSON{Concurrency: l.Concurrency, Throughput: changeOf(l.Throughput, l.History, 1)}
		if l.TTFT50.OK {
			step.TTFT50 = changeOf(l.TTFT50.V, load.Opt[compare.History]{}, 1e3)
		}
		if l.TTFT95.OK {
			step.TTFT95 = changeOf(l.TTFT95.V, load.Opt[compare.History]{}, 1e3)
		}
		j.Steps = append(j.Steps, step)
	}
	for _, m := range c.Missing {
		j.Missing = append(j.Missing, missingJSON{m.Concurrency, text(m.Old), text(m.New)})
	}
	return j
}

func changeOf(c compare.Change, h load.Opt[compare.History], scale float64) *changeJSON {
	j := &changeJSON{
		Old: finite(scale * c.Old), New: finite(scale * c.New), Ratio: intervalOf(c.Ratio), P: finiteOpt(c.P),
		Adjusted: finiteOpt(c.Adjusted), Judgement: text(c.Judgement), Detectable: finiteOpt(c.Detectable),
	}
	if h.OK {
		j.History = &historyJSON{
			Runs: h.V.Runs, Mean: finite(scale * h.V.Mean), SD: finite(scale * h.V.SD), Value: finite(scale * h.V.Value),
			Change: finite(h.V.Change), Z: finiteOpt(h.V.Z), Lo: finite(scale * h.V.Lo), Hi: finite(scale * h.V.Hi),
			P: finiteOpt(h.V.P), Adjusted: finiteOpt(h.V.Adjusted), Judgement: text(h.V.Judgement),
		}
	}
	return j
}
