package load

import "fmt"

// Warning is a doubt about the value that it is attached to.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// The codes of warnings.
const (
	WarnInsecure        = "insecure"
	WarnBuffered        = "buffered"
	WarnNotStreamed     = "not_streamed"
	WarnEstimatedTokens = "estimated_tokens"
	WarnMalformedFrames = "malformed_frames"
	WarnHiddenTokens    = "hidden_tokens"
	WarnHighCacheShare  = "high_cache_share"
	WarnShortOutput     = "short_output"
	WarnMixedModels     = "mixed_models"
	WarnMixedHeaders    = "mixed_headers"
	WarnSplit           = "split"
	WarnUnevenCache     = "uneven_cache"
	WarnResumed         = "resumed"
	WarnCanary          = "canary"
	WarnCacheMode       = "cache_not_as_asked"
	WarnNotSteady       = "not_steady"
	WarnOutlier         = "outlier"
	WarnSoftKnee        = "soft_knee"
	WarnDriftUnchecked  = "drift_unchecked"
	WarnDrift           = "drift"
	WarnClientBound     = "client_bound"
	WarnFewSamples      = "few_samples"
	WarnOneWave         = "one_wave"
	WarnColdStart       = "cold_start"
	WarnReplayed        = "replayed"
	WarnStarved         = "starved"
	WarnLowConfidence   = "low_confidence"
	WarnRemeasured      = "remeasured"
	WarnPeerBias        = "peer_bias"
	WarnPeerDrain       = "peer_drain"
	WarnEstimates       = "estimates_disagree"
)

// InsecureText is what [WarnInsecure] says, wherever it is said.
const InsecureText = "--insecure: the certificate of the server was not checked, so it may be anybody"

// Warnf makes a Warning from a code and a formatted text.
func Warnf(code, format string, args ...any) Warning {
	return Warning{Code: code, Text: fmt.Sprintf(format, args...)}
}
