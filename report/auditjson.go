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

// clientJSON is what measuring cost the measuring process; its members are null
// when it was not watched.
type clientJSON struct {
	CPU       number         `json:"cpu"`
	LagP99MS  number         `json:"lag_p99_ms"`
	GCPauseMS number         `json:"gc_pause_ms"`
	Bound     load.Opt[bool] `json:"bound"`
}

func clientOf(c load.Opt[load.ClientHealth]) clientJSON {
	if !c.OK {
		return clientJSON{}
	}
	return clientJSON{
		CPU: finite(c.V.CPU), LagP99MS: millis(c.V.LagP99), GCPauseMS: millis(c.V.GCPause), Bound: load.Some(c.V.Bound),
	}
}

func (j clientJSON) load() load.Opt[load.ClientHealth] {
	if !j.Bound.OK {
		return load.Opt[load.ClientHealth]{}
	}
	return load.Some(load.ClientHealth{
		CPU: j.CPU.V, LagP99: seconds(j.LagP99MS), GCPause: seconds(j.GCPauseMS), Bound: j.Bound.V,
	})
}
