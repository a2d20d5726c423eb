package report

import "kneesweep/load"

// canaryJSON is what came of the questions with known answers.
type canaryJSON struct {
	Asked    int    `json:"asked"`
	Passed   int    `json:"passed"`
	Rate     number `json:"pass_rate"`
	Lo       number `json:"pass_rate_lo"`
	Hi       number `json:"pass_rate_hi"`
	Length   number `json:"output_length_mean"`
	LengthSD number `json:"output_length_sd"`
}

func canaryOf(c load.Opt[load.Canary]) *canaryJSON {
	if !c.OK {
		return nil
	}
	v := c.V
	return &canaryJSON{v.Asked, v.Passed, finite(v.Rate), finite(v.Lo), finite(v.Hi), finite(v.Length), finite(v.LengthSD)}
}

func (j *canaryJSON) load() load.Opt[load.Canary] {
	if j == nil {
		return load.Opt[load.Canary]{}
	}
	return load.Some(load.Canary{Asked: j.Asked, Passed: j.Passed, Rate: j.Rate.V, Lo: j.Lo.V, Hi: j.Hi.V, Length: j.Length.V, LengthSD: j.LengthSD.V})
}
