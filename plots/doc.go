// Package plots draws what was measured as PNG, SVG or PDF: the capacity curve of
// an endpoint with its knee, its latencies and their distributions, the trade-off
// between one stream and all, and one level over time.
//
//	analysis.Curve ─▶ Overlay, Latency, Pareto ─────────┐
//	analysis.Spreads ─▶ TTFTDistribution, ITLDistribution ─▶ Figure.Write
//	analysis.Timeline ─▶ Timeline ──────────────────────┘
//
// A figure is a page: a title, a legend, and panels that share one horizontal
// axis.
//
// It computes nothing but layout: every figure that it shows comes from
// analysis. It writes to an io.Writer and touches no file, clock or
// environment. A missing value is a gap, never a zero. All functions are safe
// for concurrent use on curves that nobody changes meanwhile.
package plots
