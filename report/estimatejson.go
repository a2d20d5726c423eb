package report

import "kneesweep/load"

// intervalJSON is a value with its interval; each member may be null.
type intervalJSON struct {
	Value number `json:"value"`
	Lo    number `json:"lo"`
	Hi    number `json:"hi"`
}

func intervalOf(e load.Estimate) intervalJSON {
	return intervalJSON{Value: finite(e.Value), Lo: finite(e.Lo), Hi: finite(e.Hi)}
}

func (j intervalJSON) load() load.Estimate {
	return load.Estimate{Value: orNaN(j.Value), Lo: orNaN(j.Lo), Hi: orNaN(j.Hi)}
}

// intervalOrNull is the interval, or nil, which JSON shows as null.
func intervalOrNull(e load.Opt[load.Estimate]) *intervalJSON {
	if !e.OK || !finite(e.V.Value).OK {
		return nil
	}
	j := intervalOf(e.V)
	return &j
}

// intervalMembers is the interval, with null members when it is undefined.
func intervalMembers(e load.Opt[load.Estimate]) intervalJSON {
	if !e.OK || !finite(e.V.Value).OK {
		return intervalJSON{}
	}
	return intervalOf(e.V)
}

// opt is undefined for nil and for a null value.
func (j *intervalJSON) opt() load.Opt[load.Estimate] {
	if j == nil || !j.Value.OK {
		return load.Opt[load.Estimate]{}
	}
	return load.Some(j.load())
}
