package report

import "kneesweep/load"

// inFlightJSON is the number of requests in flight over time.
type inFlightJSON struct {
	Mean number        `json:"mean"`
	Peak load.Opt[int] `json:"peak"`
}

func inFlightOf(c load.CountStat) inFlightJSON {
	if !c.OK {
		return inFlightJSON{}
	}
	return inFlightJSON{Mean: finite(c.Mean), Peak: load.Some(c.Peak)}
}

func (j inFlightJSON) load() load.CountStat {
	return load.CountStat{Mean: j.Mean.V, Peak: j.Peak.V, OK: j.Mean.OK}
}

// concurrencyJSON is the number of decoding streams over time.
type concurrencyJSON struct {
	Mean      number        `json:"mean"`
	Mode      load.Opt[int] `json:"mode"`
	P90       load.Opt[int] `json:"p90"`
	Peak      load.Opt[int] `json:"peak"`
	PeakShare number        `json:"peak_share"`
	PeakInAll number        `json:"peak_windows_share"`
	AboveP90  number        `json:"above_p90_share"`
}

func concurrencyOf(c load.Concurrency) concurrencyJSON {
	if !c.OK {
		return concurrencyJSON{}
	}
	return concurrencyJSON{
		Mean: finite(c.Mean), Mode: load.Some(c.Mode), P90: load.Some(c.P90), Peak: load.Some(c.Peak),
		PeakShare: finite(c.PeakShare), PeakInAll: finite(c.PeakInAll), AboveP90: finite(c.AboveP90),
	}
}

func (j concurrencyJSON) load() load.Concurrency {
	return load.Concurrency{
		Mean: j.Mean.V, Mode: j.Mode.V, P90: j.P90.V, Peak: j.Peak.V,
		PeakShare: j.PeakShare.V, PeakInAll: j.PeakInAll.V, AboveP90: j.AboveP90.V, OK: j.Mean.OK && j.Mode.OK,
	}
}

// clientJSON says how far the measuring client was behind; its members are null when
// nobody looked.
type clientJSON struct {
	CPU       number           `json:"cpu"`
	Cores     load.Opt[int]    `json:"cores"`
	GCPauseMS number           `json:"gc_pause_ms"`
	LagP50MS  number           `json:"lag_p50_ms"`
	LagP99MS  number           `json:"lag_p99_ms"`
	LagClock  load.Opt[string] `json:"lag_clock"`
	WakeP50MS number           `json:"wake_p50_ms"`
	WakeP99MS number           `json:"wake_p99_ms"`
	Coalesced number           `json:"coalesced_share"`
	Refill    number           `json:"refill_share"`
	Bound     load.Opt[bool]   `json:"bound"`
	Reason    load.Opt[string] `json:"reason"`
}

func clientOf(c load.Opt[load.ClientHealth]) clientJSON {
	if !c.OK {
		return clientJSON{}
	}
	h := c.V
	j := clientJSON{
		CPU: finite(h.CPU), Cores: load.Some(h.Cores), GCPauseMS: millis(h.GCPause),
		LagP50MS: millis(h.LagP50), LagP99MS: millis(h.LagP99), LagClock: text(h.LagClock),
		WakeP50MS: millis(h.WakeP50), WakeP99MS: millis(h.WakeP99),
		Coalesced: finiteOpt(h.Coalesced), Refill: finiteOpt(h.Refill), Bound: load.Some(h.Bound), Reason: text(h.Reason),
	}
	if h.Cores == 0 { // only the requests told
		j.CPU, j.Cores, j.GCPauseMS, j.WakeP50MS, j.WakeP99MS = number{}, load.Opt[int]{}, number{}, number{}, number{}
		if h.LagClock == load.ClockUser {
			j.LagP50MS, j.LagP99MS = number{}, number{}
		}
	}
	return j
}

func (j clientJSON) load() load.Opt[load.ClientHealth] {
	if !j.Bound.OK {
		return load.Opt[load.ClientHealth]{}
	}
	return load.Some(load.ClientHealth{
		CPU: j.CPU.V, Cores: j.Cores.V, GCPause: seconds(j.GCPauseMS),
		LagP50: seconds(j.LagP50MS), LagP99: seconds(j.LagP99MS), LagClock: j.LagClock.V,
		WakeP50: seconds(j.WakeP50MS), WakeP99: seconds(j.WakeP99MS),
		Coalesced: j.Coalesced, Refill: j.Refill, Bound: j.Bound.V, Reason: j.Reason.V,
	})
}
