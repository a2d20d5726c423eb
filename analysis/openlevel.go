package analysis

import "kneesweep/load"

// openLevel takes phases of an open loop for visits of a level of as many streams as
// they had at most. Their windows are those that had passed when a phase ended.
func openLevel(run load.Run, phases []load.OpenPhase, all requests) *levelData {
	visits := make([]load.Visit, len(phases))
	streams := 1
	for i, p := range phases {
		streams = max(streams, p.Streams)
		visits[i] = load.Visit{
			Index: -1 - p.Index, Level: load.Level{Concurrency: p.Streams, Windows: p.Windows, Pass: p.Pass},
			Started: p.Started, Ended: p.Ended, Client: p.Client,
		}
		if p.Ended != load.EndedRunning { // else nobody knows how far it came
			visits[i].Windows = p.Spans()
		}
	}
	return newLevelData(run, streams, visits, all)
}

// fromSchedule summarises the latencies from the times at which requests were meant to be
// sent, and the time from there to the send. Each belongs to the span in which its
// closing event falls, as all others do.
func (d *levelData) fromSchedule() (ttft, e2e, delay load.Dist) {
	var ttfts, e2es, delays []float64
	d.each(func(s *load.Sample, span load.Span) {
		late := s.FromSchedule()
		running := s.Cause == load.CauseCanceled
		if !late.OK || s.Failed() && !running {
			return
		}
		if span.Holds(s.Sent) {
			delays = append(delays, late.V.Seconds())
		}
		if within(s.FirstToken(), span) {
			ttfts = append(ttfts, (s.TTFT().V + late.V).Seconds())
		}
		if !running && span.Holds(s.End) {
			e2es = append(e2es, (s.E2E() + late.V).Seconds())
		}
	})
	return dist(ttfts), dist(e2es), dist(delays)
}
