package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"kneesweep/analysis/stat"
	"kneesweep/plots"
)

// screen is what the whole terminal shows of a sweep.
type screen struct {
	status   string
	points   []point
	ttft     []time.Duration // of the visit that is running
	failures map[string]int
}

// point is a level with the median of its windows so far, as the controller saw
// them.
type point struct {
	n    int
	rate float64 // tokens/s
}

func pointsOf(rates map[int][]float64) []point {
	var all []point
	for _, n := range slices.Sorted(maps.Keys(rates)) {
		all = append(all, point{n, stat.Median(rates[n])})
	}
	return all
}

const farewellLine = "Ctrl-C ends the sweep and keeps what was measured"

// draw is the screen as height lines of at most width columns.
func (s screen) draw(heading string, width, height int) string {
	if width < 1 || height < 1 {
		return ""
	}
	lines := append([]string{heading}, foldStatus(s.status, width)...)
	const histogram = 5
	if room := height - len(lines) - histogram - 6; room >= 3 && width >= 30 {
		lines = append(lines, "", "Output of all streams, tok/s, at each number of parallel streams")
		lines = append(lines, plotText(s.points, width, room)...)
		lines = append(lines, fmt.Sprintf("TTFT of this visit, %d requests", len(s.ttft)))
		lines = append(lines, histogramText(s.ttft, width, histogram)...)
	}
	lines = append(lines, failureText(s.failures), farewellLine)
	lines = lines[:min(len(lines), height)]
	for i, l := range lines {
		if r := []rune(l); len(r) > width {
			lines[i] = string(r[:width-1]) + "…"
		}
	}
	return strings.Join(lines, "\n")
}

// foldStatus breaks a line between its parts where it is too long.
func foldStatus(status string, width int) []string {
	const between = " | "
	parts := strings.Split(status, between)
	lines := []string{parts[0]}
	for _, p := range parts[1:] {
		if last := lines[len(lines)-1]; len([]rune(last+between+p)) <= width {
			lines[len(lines)-1] = last + between + p
			continue
		}
		lines = append(lines, p)
	}
	return lines
}

// plotText draws the levels over a logarithmic axis of streams, from 0 up, in
// height + 1 lines.
func plotText(points []point, width, height int) []string {
	const margin = 9
	columns := width - margin - 1
	grid := make([][]rune, height)
	for i := range grid {
		grid[i] = []rune(strings.Repeat(" ", columns))
	}
	axis := []rune(strings.Repeat(" ", columns+margin))
	top := 0.0
	for _, p := range points {
		top = math.Max(top, p.rate)
	}
	column := func(p point) int {
		lo, hi := math.Log(float64(points[0].n)), math.Log(float64(points[len(points)-1].n))
		if lo == hi {
			return columns / 2
		}
		return int(math.Round((math.Log(float64(p.n)) - lo) / (hi - lo) * float64(columns-1)))
	}
	row := func(rate float64) int { return height - 1 - int(math.Round(rate/top*float64(height-1))) }
	free := 0
	for i, p := range points {
		if top <= 0 {
			break
		}
		x := column(p)
		if i > 0 {
			for from, k := column(points[i-1]), column(points[i-1])+1; k < x; k++ {
				share := float64(k-from) / float64(x-from)
				grid[row(points[i-1].rate+share*(p.rate-points[i-1].rate))][k] = '·'
			}
		}
		grid[row(p.rate)][x] = '●'
		label := []rune(fmt.Sprint(p.n))
		if at := min(margin+x, len(axis)-len(label)); at >= free {
			copy(axis[at:], label)
			free = at + len(label) + 1
		}
	}
	lines := make([]string, height)
	for i := range grid {
		label := ""
		switch {
		case i == height-1:
			label = "0"
		case i == 0 && top > 0:
			label = plots.Number(top)
		}
		lines[i] = fmt.Sprintf("%*s ┤%s", margin-2, label, strings.TrimRight(string(grid[i]), " "))
	}
	return append(lines, strings.TrimRight(string(axis), " "))
}

// histogramText draws how many of some times fall between round edges, in rows
// lines.
func histogramText(all []time.Duration, width, rows int) []string {
	lines := make([]string, rows)
	if len(all) == 0 {
		lines[0] = "  none yet"
		return lines
	}
	lo, hi := slices.Min(all), slices.Max(all)
	step := max((hi-lo)/time.Duration(rows), 100*time.Microsecond)
	counts := make([]int, rows)
	for _, v := range all {
		counts[min(int((v-lo)/step), rows-1)]++
	}
	most := slices.Max(counts)
	for i, n := range counts {
		from := lo + time.Duration(i)*step
		room := max(width-26, 1)
		lines[i] = fmt.Sprintf("%9s ms %s %d", plots.Number(1e3*from.Seconds()), strings.Repeat("█", (n*room+most-1)/most), n)
	}
	return lines
}

// failureText lists the causes of failures, the most frequent first.
func failureText(failures map[string]int) string {
	if len(failures) == 0 {
		return "No failures"
	}
	causes := slices.Sorted(maps.Keys(failures))
	slices.SortStableFunc(causes, func(a, b string) int { return cmp.Compare(failures[b], failures[a]) })
	parts := make([]string, len(causes))
	for i, c := range causes {
		parts[i] = fmt.Sprintf("%d %s", failures[c], c)
	}
	return "Failures: " + strings.Join(parts, ", ")
}
