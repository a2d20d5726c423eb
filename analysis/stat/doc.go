// Package stat is the small statistics that the analysis shares: quantiles and
// robust spread, an interval for the median of a few windows, a trend test
// that allows for autocorrelation, and the elasticity of throughput.
//
// It keeps to what throughput windows need: few of them (1 to some tens),
// positive, skewed at times. Where gonum has the function it is used; where its
// definition differs from the one that the reports print (its interpolated
// quantile is type 4, and its trend tests are none), the function is here and
// names its source.
//
// Every function is pure, leaves its arguments as they were unless it says
// otherwise, and is safe for concurrent use. None accepts NaN: callers remove
// undefined values first.
package stat
