package probe

import (
	"math"

	dto "github.com/prometheus/client_model/go"

	"kneesweep/load"
)

// engine is the names that one kind of server gives to its figures. The first of
// several that is there counts: names changed between versions.
type engine struct {
	name                                string
	running, waiting, kvUse             []string
	preemptions, prefixHits, prefixAsks []string
}

var engines = []engine{
	{
		name: "vllm", running: []string{"vllm:num_requests_running"}, waiting: []string{"vllm:num_requests_waiting"},
		kvUse:       []string{"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
		preemptions: []string{"vllm:num_preemptions_total", "vllm:num_preemptions"},
		prefixHits:  []string{"vllm:prefix_cache_hits_total", "vllm:prefix_cache_hits", "vllm:gpu_prefix_cache_hits_total", "vllm:gpu_prefix_cache_hits"},
		prefixAsks:  []string{"vllm:prefix_cache_queries_total", "vllm:prefix_cache_queries", "vllm:gpu_prefix_cache_queries_total", "vllm:gpu_prefix_cache_queries"},
	},
	{
		name: "sglang", running: []string{"sglang:num_running_reqs"}, waiting: []string{"sglang:num_queue_reqs"},
		kvUse: []string{"sglang:token_usage"},
	},
	{name: "tgi", running: []string{"tgi_batch_current_size"}, waiting: []string{"tgi_queue_size"}},
	{
		name: "llama.cpp", running: []string{"llamacpp:requests_processing"}, waiting: []string{"llamacpp:requests_deferred"},
		kvUse: []string{"llamacpp:kv_cache_usage_ratio"},
	},
}

// read reports false if the engine's count of running requests is not there.
func (e engine) read(families map[string]*dto.MetricFamily) (load.Server, bool) {
	s := load.Server{
		Engine:  e.name,
		Running: fold(families, e.running, add), Waiting: fold(families, e.waiting, add),
		KVUse:       fold(families, e.kvUse, math.Max),
		Preemptions: fold(families, e.preemptions, add),
		PrefixHits:  fold(families, e.prefixHits, add), PrefixQueries: fold(families, e.prefixAsks, add),
	}
	return s, s.Running.OK
}

func add(a, b float64) float64 { return a + b }

// fold joins the series of the first name that is there.
func fold(families map[string]*dto.MetricFamily, names []string, join func(a, b float64) float64) load.Opt[float64] {
	for _, name := range names {
		family, ok := families[name]
		if !ok {
			continue
		}
		var out load.Opt[float64]
		for _, m := range family.GetMetric() {
			v := value(m)
			switch {
			case math.IsNaN(v) || math.IsInf(v, 0):
			case out.OK:
				out.V = join(out.V, v)
			default:
				out = load.Some(v)
			}
		}
		return out
	}
	return load.Opt[float64]{}
}

// value is that of a gauge, a counter or a series without a type; NaN otherwise.
func value(m *dto.Metric) float64 {
	switch {
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Untyped != nil:
		return m.Untyped.GetValue()
	}
	return math.NaN()
}
