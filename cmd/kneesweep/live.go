package main

import (
	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/sweep"
)

// liveRun is what a running sweep has measured so far.
type liveRun struct {
	run load.Run
	mem *sweep.Memory
}

// over are the visits that have ended.
func over(visits []load.Visit) []load.Visit {
	var ended []load.Visit
	for _, v := range visits {
		if v.Ended != load.EndedRunning {
			ended = append(ended, v)
		}
	}
	return ended
}

// finished is the number of visits that have ended.
func (l *liveRun) finished() int {
	visits, _ := l.mem.Snapshot()
	return len(over(visits))
}

// curve is the result as it would be if the sweep ended now.
func (l *liveRun) curve() analysis.Curve {
	visits, samples := l.mem.Snapshot()
	return analysis.Analyze(analysis.Data{Run: l.run, Visits: over(visits), Samples: samples})
}
