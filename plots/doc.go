// Package plots draws what was measured: the capacity curve of an endpoint with
// its knee, as PNG, SVG or PDF.
//
// It computes nothing but layout: every figure that it shows comes from
// analysis. It writes to an io.Writer and touches no file, clock or
// environment. A missing value is a gap, never a zero. All functions are safe
// for concurrent use on curves that nobody changes meanwhile.
package plots
