package analysis

import (
	"time"

	"kneesweep/analysis/steady"
	"kneesweep/load"
)

// tally is the throughput of the windows of one visit.
type tally struct {
	all     []float64 // tokens/s per window
	visible []float64 // the same without hidden tokens
	steady  bool
}

// tally counts the tokens that arrived in each window of a visit.
func (d *levelData) tally(s *stay) tally {
	g := newGrid(s.Windows)
	for _, m := range s.samples {
		c := d.tokens.of(m)
		for i := range m.Chunks {
			g.add(m.Chunks[i].At, c.tokensOf(m.Chunks[i]))
		}
		g.spread(c.over, c.visible, c.hidden)
	}
	return g.result()
}

// grid is contiguous windows, each cut into bins.
type grid struct {
	windows []load.Span
	tokens  []float64 // visible, per window
	hidden  []float64
	bins    []float64 // both, per bin
}

func newGrid(windows []load.Span) *grid {
	return &grid{
		windows: windows,
		tokens:  make([]float64, len(windows)),
		hidden:  make([]float64, len(windows)),
		bins:    make([]float64, len(windows)*steady.BinsPerWindow),
	}
}

// find returns the window that holds t, or −1.
func (g *grid) find(t time.Duration) int {
	first, last := g.windows[0], g.windows[len(g.windows)-1]
	if t < first.From || t >= last.To {
		return -1
	}
	// Windows of a visit have one length, so this guess is right or next to it.
	i := min(len(g.windows)-1, int((t-first.From)/max(1, first.To-first.From)))
	for i > 0 && t < g.windows[i].From {
		i--
	}
	for i < len(g.windows)-1 && t >= g.windows[i].To {
		i++
	}
	if !g.windows[i].Holds(t) {
		return -1
	}
	return i
}

// add credits tokens that arrived at t.
func (g *grid) add(t time.Duration, tokens float64) {
	i := g.find(t)
	if i < 0 {
		return
	}
	w := g.windows[i]
	g.tokens[i] += tokens
	g.bins[i*steady.BinsPerWindow+int(int64(t-w.From)*steady.BinsPerWindow/int64(w.To-w.From))] += tokens
}

// spread credits tokens evenly over a span.
func (g *grid) spread(over load.Span, visible, hidden float64) {
	tokens := visible + hidden
	if tokens <= 0 {
		return
	}
	for i, w := range g.windows {
		share := overlap(over, w)
		if share == 0 {
			continue
		}
		g.tokens[i] += visible * share
		g.hidden[i] += hidden * share
		width := (w.To - w.From) / steady.BinsPerWindow
		for b := range steady.BinsPerWindow {
			bin := load.Span{From: w.From + time.Duration(b)*width, To: w.From + time.Duration(b+1)*width}
			g.bins[i*steady.BinsPerWindow+b] += tokens * overlap(over, bin)
		}
	}
}

func (g *grid) result() tally {
	t := tally{all: make([]float64, len(g.windows)), visible: make([]float64, len(g.windows))}
	for i, w := range g.windows {
		t.visible[i] = g.tokens[i] / w.Seconds()
		t.all[i] = (g.tokens[i] + g.hidden[i]) / w.Seconds()
	}
	t.steady = steady.Test(g.bins).Steady
	return t
}
