package report

// definitions says what every figure of the report means. t0 is the moment of
// sending, tF and tL are the arrivals of the first and the last token, tE the end
// of the answer.
const definitions = `For one request, t0 is the moment of sending, tF and tL are the arrivals of its first and its last token, tE is the
end of its answer, n is the number of tokens that were streamed and n1 how many of them came with the first chunk.

| figure | definition | unit |
|---|---|---|
| output | tokens that arrived within a window / length of the window, of all streams together; requests that cross an edge count with the part inside. The value of a level is the median of its windows, and its interval holds that median with 95 % confidence | tokens/s |
| stream | 1 / TPOT: how fast one stream decodes | tokens/s |
| TTFT | tF − t0, the wait for the first generated token of any kind | ms |
| TPOT | (tL − tF) / (n − n1), one value per request | ms |
| ITL | the gaps between tokens, of all requests; a chunk of w tokens counts as w gaps, each a w-th of its gap | ms |
| in flight | requests sent and not yet ended, averaged over time | requests |
| decoding | streams between their first and their last token; the mode is the number that held for the longest time | streams |
| failed | requests without a good end; their share is failed / (finished + failed) | requests |
| Little's law | completed requests/s × mean time spent in flight / N; 1 when nothing is lost from the count | ratio |
| knee | K in X(N) = a + b · min(N, K), fitted by least squares to the medians of the levels: where the rising line meets the plateau. Its interval comes from resampling windows and levels | streams |
| admission limit | the number of decoding streams that stays the same at every higher level | streams |
| streams to allow | the smallest of: where the fit reaches 95 % of its plateau, the admission limit, the highest level that meets the objectives | streams |

The load is a closed loop, so the latencies are those at a fixed number of streams. At a fixed arrival rate requests can pile up,
and latencies can be higher.
`
