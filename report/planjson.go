package report

import (
	"io"
	"math"

	"kneesweep/analysis/plan"
	"kneesweep/analysis/slo"
	"kneesweep/load"
)

// CapacitySchema is the document of [PlanJSON].
const CapacitySchema = "kneesweep/capacity/v1"

type planJSON struct {
	Schema      string            `json:"schema"`
	Run         string            `json:"run"`
	Rate        number            `json:"rate_requests_per_second"`
	SLO         string            `json:"slo"`
	Spare       number            `json:"headroom_asked"`
	Replicas    intervalJSON      `json:"replicas"`
	Streams     int               `json:"streams_per_replica"`
	PerReplica  intervalJSON      `json:"requests_per_second_per_replica"`
	Saturated   number            `json:"saturated_requests_per_second_per_replica"`
	LimitedBy   string            `json:"limited_by"`
	Headroom    intervalJSON      `json:"headroom"`
	Utilization number            `json:"utilization"`
	Waiting     number            `json:"waiting_share"`
	Expected    []expectationJSON `json:"expected"`
	Month       *intervalJSON     `json:"cost_per_month"`
	Text        string            `json:"text"`
	Warnings    []load.Warning    `json:"warnings"`
}

// expectationJSON is a percentile of a latency; null where the queue has no end, and
// one fewer also where there is only one replica.
type expectationJSON struct {
	Figure     string `json:"figure"`
	Percentile int    `json:"percentile"`
	LimitMS    number `json:"limit_ms"`
	ValueMS    number `json:"value_ms"`
	FewerMS    number `json:"one_fewer_ms"`
}

// PlanJSON writes a plan as one strict JSON document; run names the curve. Its errors
// are those of w.
func PlanJSON(w io.Writer, run string, p plan.Plan) error {
	j := planJSON{
		Schema: CapacitySchema, Run: run, Rate: finite(p.Demand.Rate), SLO: p.Demand.Limits.String(), Spare: finite(p.Demand.Headroom),
		Replicas: intervalMembers(load.Some(p.Replicas)), Streams: p.Streams, PerReplica: intervalMembers(load.Some(p.PerReplica)),
		Saturated: finite(p.Saturated), LimitedBy: p.LimitedBy, Headroom: intervalMembers(load.Some(p.Headroom)), Utilization: finite(p.Utilization),
		Waiting: finite(p.Waiting), Expected: []expectationJSON{}, Month: intervalOrNull(p.Month), Text: PlanSentence(p), Warnings: list(p.Warnings),
	}
	for i, e := range p.Expected {
		x := expectationJSON{string(e.Limit.Figure), e.Limit.Percentile, millisOf(e.Limit.Max), milliseconds(e.Value), number{}}
		if len(p.Fewer) > 0 {
			x.FewerMS = milliseconds(p.Fewer[i].Value)
		}
		j.Expected = append(j.Expected, x)
	}
	b, err := document(j)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

func milliseconds(s float64) number {
	if math.IsInf(s, 0) {
		return number{}
	}
	return millis(s)
}

// latencyName is "TTFT p95".
func latencyName(l slo.Limit) string {
	name := map[slo.Figure]string{slo.TTFT: "TTFT", slo.TPOT: "TPOT", slo.E2E: "E2E"}[l.Figure]
	return name + " p" + whole(l.Percentile)
}
