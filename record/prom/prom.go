// Package prom shows a sweep as Prometheus metrics: while it runs and after, to be scraped,
// written to a file for node_exporter, or pushed to a Pushgateway.
package prom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/push"

	"kneesweep/load"
)

// Job names what is pushed, and is the first part of every metric.
const Job = "kneesweep"

// Metrics are those of one sweep. Counters grow while it runs; gauges of the result are
// there once [Metrics.Finish] was called. Every metric has the labels target, model and label;
// none has a label whose values have no bound. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry // with the labels of the run
	plain    *prometheus.Registry // without: a Pushgateway has them as those of a group
	requests *prometheus.CounterVec
	failures *prometheus.CounterVec
	tokens   prometheus.Counter
	level    prometheus.Gauge
	labelled prometheus.Registerer
	grouping map[string]string
}

// New makes the metrics of a run. Its texts are shown, so they must hold no secret.
func New(run load.Run) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), plain: prometheus.NewRegistry()}
	m.grouping = map[string]string{"target": run.Target, "model": run.Model, "label": run.Label}
	m.labelled = prometheus.WrapRegistererWith(m.grouping, m.registry)
	m.requests = prometheus.NewCounterVec(opts("requests_total", "Requests that have ended, warm-ups included."), []string{"outcome"})
	m.failures = prometheus.NewCounterVec(opts("failures_total", "Requests that failed, by cause."), []string{"cause"})
	m.tokens = prometheus.NewCounter(opts("output_tokens_total", "Output tokens of the requests that have ended."))
	m.level = prometheus.NewGauge(prometheus.GaugeOpts(opts("streams", "Number of streams that is being measured.")))
	m.register(m.requests, m.failures, m.tokens, m.level)
	for _, outcome := range []string{"ok", "failed", "stopped"} {
		m.requests.WithLabelValues(outcome)
	}
	m.gauge("start_timestamp_seconds", "When the sweep began.", float64(run.Started.UnixMilli())/1e3)
	return m
}

func (m *Metrics) register(all ...prometheus.Collector) {
	m.labelled.MustRegister(all...)
	m.plain.MustRegister(all...)
}

func opts(name, help string) prometheus.CounterOpts {
	return prometheus.CounterOpts{Namespace: Job, Name: name, Help: help}
}

// gauge is one value of the result.
func (m *Metrics) gauge(name, help string, value float64) {
	g := prometheus.NewGauge(prometheus.GaugeOpts(opts(name, help)))
	g.Set(value)
	m.register(g)
}

// Sample counts a request that has ended.
func (m *Metrics) Sample(s *load.Sample) {
	outcome := "ok"
	switch {
	case s.Cause == load.CauseCanceled:
		outcome = "stopped"
	case s.Failed():
		outcome = "failed"
		m.failures.WithLabelValues(string(s.Cause)).Inc()
	}
	m.requests.WithLabelValues(outcome).Inc()
	m.tokens.Add(float64(max(0, s.OutputTokens)))
}

// Level says which number of streams is being measured.
func (m *Metrics) Level(n int) { m.level.Set(float64(n)) }

// Result is what a sweep came to.
type Result struct {
	Steps       []load.Step
	Verdict     string
	Status      load.Status
	Knee        load.Opt[load.Estimate] // streams
	Plateau     load.Opt[float64]       // tokens/s
	Recommended load.Opt[int]           // streams
	Usable      bool                    // there is a curve
	Regression  load.Opt[bool]          // against earlier runs; undefined when nobody looked
	Ended       time.Time
}

// Finish adds the result. It is called once.
func (m *Metrics) Finish(r Result) {
	m.level.Set(0)
	m.gauge("end_timestamp_seconds", "When the sweep ended.", float64(r.Ended.UnixMilli())/1e3)
	m.gauge("success", "1: the sweep has a curve.", bit(r.Usable))
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts(opts("verdict_info", "How the sweep ended, and what was found, in labels; always 1.")), []string{"status", "verdict"})
	m.register(info)
	info.WithLabelValues(string(r.Status), r.Verdict).Set(1)
	if r.Regression.OK {
		m.gauge("regression", "1: the run is worse than the earlier ones of its series lead to expect.", bit(r.Regression.V))
	}
	if r.Usable {
		if r.Knee.OK {
			m.gauge("knee_streams", "Parallel streams at which throughput stops growing.", r.Knee.V.Value)
			m.gauge("knee_streams_lower", "Lower end of its 95 % interval.", r.Knee.V.Lo)
			m.gauge("knee_streams_upper", "Upper end of its 95 % interval.", r.Knee.V.Hi)
		}
		if r.Plateau.OK {
			m.gauge("plateau_tokens_per_second", "Output tokens/s beyond the knee.", r.Plateau.V)
		}
		if r.Recommended.OK {
			m.gauge("recommended_streams", "Parallel streams to allow.", float64(r.Recommended.V))
		}
	}
	m.levels(r.Steps)
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// levels adds what was measured at each number of streams. What is not valid has no
// figures, only the mark.
func (m *Metrics) levels(steps []load.Step) {
	vec := func(name, help string, labels ...string) *prometheus.GaugeVec {
		v := prometheus.NewGaugeVec(prometheus.GaugeOpts(opts(name, help)), append([]string{"concurrency"}, labels...))
		m.register(v)
		return v
	}
	valid := vec("level_valid", "1: the level may be used.")
	rate := vec("level_output_tokens_per_second", "Output tokens/s of all streams together, median of the windows.")
	errorRate := vec("level_error_ratio", "Share of requests that failed.")
	times := []struct {
		of  func(load.Step) load.Dist
		vec *prometheus.GaugeVec
	}{
		{func(s load.Step) load.Dist { return s.TTFT }, vec("level_ttft_seconds", "Time to first token, quantiles.", "quantile")},
		{func(s load.Step) load.Dist { return s.TPOT }, vec("level_tpot_seconds", "Time per output token, quantiles.", "quantile")},
		{func(s load.Step) load.Dist { return s.E2E }, vec("level_e2e_seconds", "Whole request, quantiles.", "quantile")},
	}
	for _, s := range steps {
		n := strconv.Itoa(s.Concurrency)
		valid.WithLabelValues(n).Set(bit(s.Valid))
		if s.ErrorRate.OK {
			errorRate.WithLabelValues(n).Set(s.ErrorRate.V)
		}
		if !s.Valid || !s.Throughput.OK {
			continue
		}
		rate.WithLabelValues(n).Set(s.Throughput.V.Value)
		for _, t := range times {
			if d := t.of(s); d.Count > 0 {
				t.vec.WithLabelValues(n, "0.5").Set(d.P50)
				t.vec.WithLabelValues(n, "0.95").Set(d.P95)
				t.vec.WithLabelValues(n, "0.99").Set(d.P99)
			}
		}
	}
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// WriteFile writes them for node_exporter's textfile collector: whole or not at all, as
// it reads at any moment.
func (m *Metrics) WriteFile(path string) error { return prometheus.WriteToTextfile(path, m.registry) }

// Push puts them onto a Pushgateway in place of those of the last sweep of the same
// target, model and label. Its errors do not show the address.
func (m *Metrics) Push(ctx context.Context, address string, client *http.Client) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return errors.New("not an address such as http://host:9091")
	}
	user := u.User
	u.User = nil
	p := push.New(u.String(), Job).Gatherer(m.plain).Client(client)
	for name, value := range m.grouping {
		p = p.Grouping(name, value)
	}
	if user != nil {
		password, _ := user.Password()
		p = p.BasicAuth(user.Username(), password)
	}
	if err := p.PushContext(ctx); err != nil {
		var wrong *url.Error
		if errors.As(err, &wrong) { // it holds the address
			err = wrong.Err
		} else {
			err = fmt.Errorf("refused by the gateway")
		}
		return fmt.Errorf("%s: %w", u.Host, err)
	}
	return nil
}

// Set is the last metrics of each target, model and label, for a process that sweeps again and
// again. Its zero value is empty. It is safe for concurrent use.
type Set struct {
	mu  sync.Mutex
	all map[string]*Metrics
}

// Put makes m the metrics of its target, model and label.
func (s *Set) Put(m *Metrics) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*Metrics{}
	}
	s.all[fmt.Sprintf("%q", []string{m.grouping["target"], m.grouping["model"], m.grouping["label"]})] = m
}

// Handler serves them all.
func (s *Set) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		all := make(prometheus.Gatherers, 0, len(s.all))
		for _, m := range s.all {
			all = append(all, m.registry)
		}
		s.mu.Unlock()
		promhttp.HandlerFor(all, promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
}
