package load

import "strconv"

// Cause says why a request failed; the empty Cause means that it did not.
type Cause string

// The causes of failure. A refusal by status is [HTTPCause], for example "http_429".
const (
	CauseConnect           Cause = "connect"             // no connection
	CauseTLS               Cause = "tls"                 // TLS handshake failed
	CauseTimeoutFirstToken Cause = "timeout_first_token" // nothing generated in time
	CauseTimeoutIdle       Cause = "timeout_idle"        // silence after the first token
	CauseStreamError       Cause = "stream_error"        // an error object with a 2xx status
	CauseTruncated         Cause = "truncated"           // ended without finish_reason or [DONE]
	CauseReset             Cause = "reset"               // connection broken by the peer
	CauseMalformed         Cause = "malformed"           // no frame of the stream could be understood
	CauseEmpty             Cause = "empty"               // ended well, with no token
	CauseFrameTooLong      Cause = "frame_too_long"      // one frame over the 16 MiB bound
	CauseNotAStream        Cause = "not_a_stream"        // 2xx body that is neither a stream nor a completion
	CauseClient            Cause = "client"              // our own fault: request not built, descriptors exhausted
	CauseCanceled          Cause = "canceled"            // stopped by us
)

// HTTPCause names a refusal by HTTP status code.
func HTTPCause(status int) Cause { return Cause("http_" + strconv.Itoa(status)) }
