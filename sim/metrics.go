package sim

import (
	"fmt"
	"net/http"
)

// metrics writes what the engine does at this moment in the text format of
// Prometheus.
func (e *Endpoint) metrics(w http.ResponseWriter) {
	running, waiting, kv := e.engine.state()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	gauge := func(name, help string, value float64) {
		fmt.Fprintf(w, "# HELP %[1]s %[2]s\n# TYPE %[1]s gauge\n%[1]s{model_name=%[3]q} %[4]g\n", name, help, e.cfg.Model, value)
	}
	gauge("vllm:num_requests_running", "Sequences in the batch.", float64(running))
	gauge("vllm:num_requests_waiting", "Requests in the queue.", float64(waiting))
	if e.cfg.KVTokens > 0 {
		gauge("vllm:kv_cache_usage_perc", "Share of the KV cache in use, 1 is all.", float64(kv)/float64(e.cfg.KVTokens))
	}
}

// state counts the sequences in the batch, the requests in the queue and the tokens
// in the KV cache.
func (e *engine) state() (running, waiting, kv int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.running), len(e.queue), e.kv
}
