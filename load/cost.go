package load

// Prices are what the endpoint's work is paid with, in any one currency: tokens by
// the million, or GPUs by the hour. The zero Prices say that none is known.
type Prices struct {
	Input  float64 // per million prompt tokens that no cache served
	Cached float64 // per million prompt tokens that a cache served
	Output float64 // per million output tokens, hidden ones included

	Hour float64 // per hour of one GPU
	GPUs int     // that one endpoint takes; at least 1 where Hour is above 0
	Duty float64 // share of the paid time in which the endpoint is as busy as measured, above 0 and at most 1
}

// PerHour is what an hour of the endpoint costs; 0 where tokens are paid.
func (p Prices) PerHour() float64 { return p.Hour * float64(p.GPUs) }

// Cost is what the output of a level costs.
type Cost struct {
	PerMillion Estimate // money per million output tokens, what their prompts cost included; bounds are NaN where they are not known
	Rate       float64  // output tokens/s that one unit of money per hour buys
}

// Used is what a run asked of the endpoint from its first request to its last,
// warm-ups and failures included.
type Used struct {
	Requests     int
	InputTokens  int // as the server counted them, else as they were asked for
	CachedTokens int // of those
	OutputTokens int
	Seconds      float64 // from the first send to the last end
}
