package gate

import "regexp"

// kind is what a field holds, and so what it can be compared with.
type kind int

const (
	object   kind = iota // has members and no value of its own
	list                 // cannot be compared at all
	counts               // a map from name to count
	number               // a count or a rate
	fraction             // 1 is 100 %
	millis               // a time in milliseconds
	text
	boolean
)

// want says how a value of the kind is written.
func (k kind) want() string {
	return [...]string{
		number: "a number, such as 32 or 2k", fraction: "a fraction, such as 0.05 or 5%",
		millis: "a time, such as 500, 500ms or 0.5s (a number alone is milliseconds)",
		text:   `a text in quotes, such as "knee"`, boolean: "true or false",
	}[k]
}

func (k kind) isNumber() bool { return k == number || k == fraction || k == millis }

// field is a node of the schema. One with members and another kind than object is
// an interval: as a value it is its member "value".
type field struct {
	kind    kind
	members fields   // of counts: the names that are known; none = any name
	oneOf   []string // all texts that can be there; empty = any
}

type fields map[string]field

// of are fields of one kind.
func of(k kind, names ...string) fields {
	f := fields{}
	for _, n := range names {
		f[n] = field{kind: k}
	}
	return f
}

// and is f with the fields of more.
func (f fields) and(more fields) fields {
	for name, m := range more {
		f[name] = m
	}
	return f
}

func structure(members fields) field { return field{members: members} }

func oneOf(texts ...string) field { return field{kind: text, oneOf: texts} }

var interval = field{kind: number, members: of(number, "value", "lo", "hi")}

func distribution(k kind) field {
	return structure(of(k, "p50", "p90", "p95", "p99", "mean").and(of(number, "count")))
}

// curve is the document kneesweep/curve/v1. Steps have the type of one step.
var curve = structure(of(text, "schema").and(of(list, "estimates", "warnings")).and(fields{
	"run": structure(of(text, "id", "started", "tool", "target", "model", "label", "dataset_hash", "stop_reason").and(fields{
		"seed":   {kind: number},
		"status": oneOf("complete", "interrupted", "stopped"),
		"request": structure(of(number, "input_tokens_asked", "input_tokens_got_mean", "output_tokens_asked", "lines_left_out").
			and(of(boolean, "stream", "insecure")).and(of(text, "dialect", "cache_mode", "cache", "source", "extra")).and(fields{
			"input_lengths":  structure(of(text, "asked").and(of(number, "mean"))),
			"output_lengths": structure(of(text, "asked").and(of(number, "mean"))),
		})),
		"settings": structure(of(millis, "window_ms", "think_ms").and(of(number, "measurements", "passes", "requests", "warmup")).
			and(of(fraction, "max_error_rate", "precision")).and(of(text, "slo", "journal", "arrivals")).and(of(list, "rates_requests_per_second")).and(of(boolean, "replay")).and(fields{
			"prices": structure(of(number, "input_per_million", "cached_per_million", "output_per_million", "per_gpu_hour", "gpus").and(of(fraction, "duty_cycle"))),
		})),
		"truth":     structure(of(number, "knee", "admission_limit")),
		"preflight": structure(of(text, "cause", "error")),
		"pauses":    {kind: list},
	})),
	"steps": step,
	"used":  structure(of(number, "requests", "input_tokens", "cached_tokens", "output_tokens", "seconds")),
	"cost": structure(of(number, "spent").and(fields{
		"cheapest": structure(of(number, "concurrency", "within_one_percent_from").and(levelCost)),
	})),
	"at": structure(of(number, "concurrency", "below", "above").and(of(text, "why")).and(of(boolean, "knee_between")).and(fields{
		"output_tokens_per_second": interval, "decode_tokens_per_second_p50": interval,
		"ttft_p50_ms": {kind: millis, members: of(millis, "value", "lo", "hi")},
		"tpot_p50_ms": {kind: millis, members: of(millis, "value", "lo", "hi")},
	})),
	"confirm": structure(of(number, "concurrency", "rate_requests_per_second", "streams", "windows", "arrivals", "waited", "unsent", "failed",
		"requests_per_second", "closed_loop_tokens_per_second").and(of(text, "process", "text")).and(of(boolean, "holds")).
		and(of(fraction, "difference")).and(of(millis, "from_ms", "to_ms")).and(fields{
		"output_tokens_per_second": interval, "in_flight": structure(of(number, "mean", "peak")),
		"ttft_ms": distribution(millis), "e2e_ms": distribution(millis), "ttft_from_schedule_ms": distribution(millis),
		"e2e_from_schedule_ms": distribution(millis), "dispatch_delay_ms": distribution(millis),
	})),
	"rates": structure(of(text, "process").and(of(boolean, "replay")).and(of(number, "streams")).and(of(list, "steps")).and(fields{
		"knee": structure(of(list, "outliers", "warnings").and(of(boolean, "soft")).and(of(number, "lower_bound", "plateau_tokens_per_second", "slope_tokens_per_request", "n95")).
			and(of(fraction, "rise_per_doubling")).and(fields{
			"verdict":                  oneOf("knee", "too_few_levels", "at_or_below_first", "not_located", "still_rising"),
			"rate_requests_per_second": interval,
			"retrograde":               structure(of(number, "from").and(of(fraction, "drop"))),
			"fit":                      structure(of(number, "a", "b", "k", "from", "to")),
		})),
		"recommended": structure(of(number, "rate_requests_per_second", "streams").and(of(text, "text"))),
	})),
	"knee": structure(of(text, "method").and(of(list, "outliers", "warnings")).and(of(boolean, "soft")).
		and(of(number, "lower_bound", "plateau_tokens_per_second", "slope_tokens_per_second_per_stream", "n95")).
		and(of(fraction, "rise_per_doubling")).and(fields{
		"verdict":     oneOf("knee", "too_few_levels", "at_or_below_first", "not_located", "still_rising"),
		"concurrency": interval,
		"retrograde":  structure(of(number, "from").and(of(fraction, "drop"))),
		"fit":         structure(of(number, "a", "b", "k", "rss", "from", "to")),
	})),
	"admission_limit": interval,
	"cause": structure(of(list, "evidence").and(fields{
		"name": oneOf("admission", "compute", "prefill", "throttled", "network", "client", "unknown"),
	})),
	"recommended": structure(of(number, "concurrency").and(of(text, "reason")).and(fields{
		"limited_by": oneOf("knee", "admission", "slo"),
	})),
}))

// causes are the causes of failed requests, but for those of httpCause.
var causes = of(number, "connect", "tls", "timeout_first_token", "timeout_idle", "stream_error", "truncated", "reset",
	"malformed", "empty", "frame_too_long", "not_a_stream", "client", "canceled")

// httpCause is a refusal by HTTP status.
var httpCause = regexp.MustCompile(`^http_[1-5][0-9][0-9]$`)

// has reports whether counts can have a name.
func (f field) has(name string) bool {
	_, known := f.members[name]
	return f.members == nil || known || httpCause.MatchString(name)
}

var step = structure(of(list, "measurements", "warnings").and(of(counts, "models", "fingerprints", "headers")).
	and(of(boolean, "valid", "steady", "scout")).and(of(text, "invalid_reason")).
	and(of(millis, "window_ms", "backoff_ms")).
	and(of(fraction, "drift", "error_rate", "scaled_share", "hidden_share", "cached_share")).
	and(of(number, "concurrency", "visible_tokens_per_second", "requests_per_second", "goodput_requests_per_second", "littles_law", "waves",
		"started", "finished", "failed", "in_flight_at_end", "tokens_per_chunk", "output_length_mean", "prompt_tokens_mean",
		"connections_opened", "connections_reused", "replayed", "retries")).and(fields{
	"failures":                 {kind: counts, members: causes},
	"token_source":             oneOf("server", "server_scaled", "estimated"),
	"output_tokens_per_second": interval,
	"decode_tokens_per_second": distribution(number),
	"ttft_ms":                  distribution(millis),
	"ttfc_ms":                  distribution(millis),
	"ttft_cached_ms":           distribution(millis),
	"ttft_uncached_ms":         distribution(millis),
	"connect_ms":               distribution(millis),
	"tpot_ms":                  distribution(millis),
	"itl_ms":                   distribution(millis),
	"icl_ms":                   distribution(millis),
	"e2e_ms":                   distribution(millis),
	"dispatch_delay_ms":        distribution(millis),
	"canary":                   structure(of(number, "asked", "passed", "output_length_mean", "output_length_sd").and(of(fraction, "pass_rate", "pass_rate_lo", "pass_rate_hi"))),
	"slo":                      structure(of(boolean, "met").and(of(text, "text"))),
	"cost":                     structure(levelCost),
	"in_flight":                structure(of(number, "mean", "peak")),
	"decode_concurrency": structure(of(number, "mean", "mode", "p90", "peak").
		and(of(fraction, "peak_share", "peak_windows_share", "above_p90_share"))),
	"server": structure(of(text, "engine").and(of(number, "readings", "preemptions")).and(of(fraction, "prefix_hit_share")).and(fields{
		"running": structure(of(number, "mean", "max")),
		"waiting": structure(of(number, "mean", "max")),
		"kv_use":  structure(of(fraction, "mean", "max")),
	})),
	"client": structure(of(fraction, "cpu", "coalesced_share", "refill_share").and(of(number, "cores")).
		and(of(millis, "lag_p50_ms", "lag_p99_ms", "wake_p50_ms", "wake_p99_ms", "gc_pause_ms")).
		and(of(boolean, "bound")).and(of(text, "reason")).and(fields{"lag_clock": oneOf("kernel", "user")})),
}))

// levelCost is what the output of a level costs.
var levelCost = of(number, "output_tokens_per_second_per_dollar_hour").and(fields{"per_million_output_tokens": interval})

// account are the fields of a step that say how it went. They count for every
// step; the other fields are figures, and count for valid steps only.
var account = []string{
	"valid", "invalid_reason", "steady", "started", "finished", "failed", "in_flight_at_end",
	"failures", "error_rate", "backoff_ms", "client",
}
