package analysis

import (
	"fmt"
	"slices"
	"strings"

	"kneesweep/load"
)

// The rules by which the measuring client, and not the endpoint, is at fault. A step
// is bound only if one of its printed figures is wrong by more than a twentieth, or
// if the load could not be held. docs/method.md gives the reasons; the limit on CPU
// is that of [load.Process.Full].
const (
	wrongBy    = 0.05           // of a figure, from which on it is called wrong
	wrongShare = 0.01           // of the arrivals that may be wrong: what is said of the others is said of p99
	mergeLag   = 0.25           // of the time between two tokens: read so late after the last of them, others may have waited longer
	mergedMost = 0.05           // of the tokens that may share the stamp of a later one: the tail of ITL suffers first, the rest stands
	mergeShare = wrongShare / 2 // of the chunks that were read so late, at least
	fewMerged  = 5              // chunks; fewer say nothing about a p99
	grain      = 1e-3           // seconds by which timers, and what leaves, may be late on an idle machine
)

// relief is what helps against a client at its limit.
const relief = "give kneesweep more cores or an idle machine, use fewer streams, or share them out among several machines; " +
	"kneesweep ceiling says what one machine holds"

// clientHealth fills in how far the client was behind, and whether it was at fault.
func (d *levelData) clientHealth(st *load.Step) {
	var h load.ClientHealth
	watched, full := false, false
	for i := range d.stays {
		p := d.stays[i].Client
		watched = watched || p != load.Process{}
		full = full || p.Full()
		h.CPU, h.Cores = max(h.CPU, p.CPU), max(h.Cores, p.Cores)
		h.GCPause += p.GCPause
		h.WakeP50 = max(h.WakeP50, p.SchedP50, p.LagP50-grain)
		h.WakeP99 = max(h.WakeP99, p.SchedP99, p.LagP99-grain)
	}
	in := d.intake(tokenTime(st))
	failed := d.failedHere(st)
	if !watched && in.stamped == 0 && failed == "" {
		return // nobody looked
	}
	h.LagClock, h.LagP50, h.LagP99 = load.ClockUser, h.WakeP50, h.WakeP99
	if in.byKernel() {
		h.LagClock, h.LagP50, h.LagP99 = load.ClockKernel, in.lag.quantile(0.50), in.lag.quantile(0.99)
	}
	if in.chunks > 0 {
		h.Coalesced = load.Some(in.coalesced / in.chunks)
	}
	h.Refill = d.refill(h.WakeP50)
	var faults []string
	for _, fault := range []string{failed, cpuFault(h, full), stampFault(st, &h, &in), sendFault(st, h), refillFault(st, h)} {
		if fault != "" {
			faults = append(faults, fault)
		}
	}
	h.Reason = strings.Join(faults, "; ")
	h.Bound = h.Reason != ""
	st.Client = load.Some(h)
}

// failedHere tells of requests that failed for want of something on this machine,
// such as local ports or open files, where the level is lost by them: they alone are
// more than may fail, or they are most of the failures on which the level ended or
// after which its streams stood still.
func (d *levelData) failedHere(st *load.Step) string {
	n, all := st.Failures[string(load.CauseClient)], st.Finished+st.Failed
	lost := float64(n) > d.run.Settings.MaxErrorRate*float64(all)
	if 2*n > st.Failed {
		lost = lost || d.short(st) && st.Backoff > 0 ||
			slices.ContainsFunc(d.stays, func(s stay) bool { return s.Ended == load.EndedFailing })
	}
	if n == 0 || !lost {
		return ""
	}
	text := ""
	note := func(s *load.Sample) {
		if s.Cause == load.CauseClient && text == "" {
			text = s.Error
		}
	}
	d.each(func(s *load.Sample, _ load.Span) { note(s) })
	for i := range d.stays {
		for _, s := range d.stays[i].rest {
			note(s)
		}
	}
	if strings.Contains(text, "assign requested address") { // as the system says it when no port is left
		text = "no local port is left for a connection to that address: do without --new-connection, use fewer streams, " +
			"or widen net.ipv4.ip_local_port_range"
	}
	return fmt.Sprintf("%d of %d requests failed on this machine (%s)", n, all, text)
}

// cpuFault tells of a process that used up its cores.
func cpuFault(h load.ClientHealth, full bool) string {
	if !full {
		return ""
	}
	return fmt.Sprintf("it used %.0f %% of the %d cores that it may use", 100*h.CPU, h.Cores)
}

// stampFault tells of arrivals that are stamped wrong. The kernel's stamps do not
// care when they are read, but chunks that were read together have one stamp: if
// reads were so late that tokens which came apart met, it is wrong for the earlier
// ones. Stamps of our own are as late as we are.
func stampFault(st *load.Step, h *load.ClientHealth, in *intake) string {
	gap := tokenTime(st)
	if gap <= 0 {
		return ""
	}
	if !in.byKernel() {
		if h.WakeP99 <= wrongBy*gap {
			return ""
		}
		return fmt.Sprintf("arrivals are stamped when this process reads them, and it woke up %s late (p99), %.0f %% of the %s between tokens",
			span(h.WakeP99), 100*h.WakeP99/gap, span(gap))
	}
	late := in.lag.above(mergeLag * gap)
	if in.merged < max(fewMerged, mergedMost*in.chunks) || late < mergeShare {
		return ""
	}
	return fmt.Sprintf("%.1f %% of the tokens share the stamp of a later one, since reads were late (p99 %s, between tokens %s)",
		100*in.merged/in.chunks, span(h.LagP99), span(gap))
}

// tokenTime is the time between two tokens of a stream, in seconds; 0 = not known.
func tokenTime(st *load.Step) float64 {
	if st.ITL.Count == 0 {
		return 0
	}
	if st.ITL.P50 > 0 {
		return st.ITL.P50
	}
	return st.ITL.Mean // most tokens came together with another one
}

// sendFault tells of requests that leave late: whoever stamps the first token, that
// is counted as the endpoint's.
func sendFault(st *load.Step, h load.ClientHealth) string {
	if st.TTFT.Count == 0 || h.WakeP50 <= max(grain, wrongBy*st.TTFT.P50) {
		return ""
	}
	return fmt.Sprintf("it woke up %s late (median), so requests left late and TTFT (%s) is too long by %.0f %%",
		span(h.WakeP50), span(st.TTFT.P50), 100*h.WakeP50/st.TTFT.P50)
}

// refillFault tells of a load that was not held because of us.
func refillFault(st *load.Step, h load.ClientHealth) string {
	if h.Refill.V <= wrongBy {
		return ""
	}
	return fmt.Sprintf("streams stood empty between two requests for %.1f %% of the time (%s each time, median)",
		100*h.Refill.V, span(st.DispatchDelay.P50))
}

// refill is the share of the load that was missing because of us between two requests
// of a stream. A connection that was not free yet is the endpoint's doing, but for the
// time that we take to wake up, wake.
func (d *levelData) refill(wake float64) load.Opt[float64] {
	lost, gaps := 0.0, 0
	d.each(func(s *load.Sample, span load.Span) {
		if !s.Dispatch.OK || !span.Holds(s.Sent) {
			return
		}
		gaps++
		drain := s.Drain.Seconds()
		lost += max(0, s.Dispatch.V.Seconds()-drain) + min(drain, wake)
	})
	if gaps == 0 || d.seconds() <= 0 {
		return load.Opt[float64]{}
	}
	return load.Some(lost / (float64(d.n) * d.seconds()))
}
