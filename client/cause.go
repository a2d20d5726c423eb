package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"kneesweep/client/sse"
	"kneesweep/load"
)

// unhindered reports whether neither the caller nor a timeout ended the attempt.
func (x *exchange) unhindered() bool { return x.stopped() == nil && x.watch.over() == "" }

// broken sets the cause for an error of the transport or of the body. What ended
// the attempt on our side comes first, because the error only follows from it.
func (x *exchange) broken(err error) {
	cfg := &x.c.cfg
	over := x.watch.over()
	stopped := x.stopped() != nil
	if over != "" || stopped {
		x.s.End = x.c.now() // when we ended it; what came last may have come long before
	}
	switch {
	case stopped:
		x.fail(load.CauseCanceled, "stopped before the answer was complete")
	case over == load.CauseTimeoutFirstToken:
		x.fail(over, "--timeout-first-token: nothing generated within "+cfg.TimeoutFirstToken.String())
	case over == load.CauseTimeoutIdle:
		x.fail(over, "--timeout-idle: no event within "+cfg.TimeoutIdle.String())
	case over == load.CauseReset:
		x.fail(over, "the server closed the connection under the request, and again when it was sent anew")
	default:
		x.fail(causeOf(err, x.s.Status != 0), describe(err, cfg))
	}
}

// proxyConnect is how net/http calls what fails between us and a proxy.
const proxyConnect = "proxyconnect"

// causeOf names the failure behind err; answered says that a response had begun.
func causeOf(err error, answered bool) load.Cause {
	var op *net.OpError
	var dial *dialError
	isDial := errors.As(err, &dial)
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE),
		isDial && errors.Is(err, syscall.EADDRNOTAVAIL):
		return load.CauseClient
	case isDial:
		return dial.cause
	case errors.Is(err, errHTTP2):
		return load.CauseMalformed
	case errors.Is(err, sse.ErrFrameTooLong):
		return load.CauseFrameTooLong
	case isTLS(err):
		return load.CauseTLS
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed),
		errors.Is(err, io.ErrClosedPipe):
		return load.CauseReset
	case answered && errors.Is(err, io.ErrUnexpectedEOF):
		return load.CauseTruncated
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), strings.Contains(err.Error(), "server closed"):
		return load.CauseReset
	case errors.As(err, &op) && (op.Op == "dial" || op.Op == proxyConnect):
		return load.CauseConnect
	case errors.As(err, &op):
		return load.CauseReset
	}
	return load.CauseMalformed // an answer that is not HTTP
}

// isTLS recognises handshakes that net/http made itself (through a proxy), and alerts
// that come when the handshake looks done: TLS 1.3 refuses a client only then.
func isTLS(err error) bool {
	var op *net.OpError
	var record tls.RecordHeaderError
	var verify *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var alert tls.AlertError
	return errors.As(err, &record) || errors.As(err, &verify) || errors.As(err, &authority) || errors.As(err, &alert) ||
		errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") // as crypto/tls calls them
}

// describe puts err into words and names the flag that may help.
func describe(err error, cfg *Config) string {
	var dial *dialError
	var timeout net.Error
	var op *net.OpError
	if errors.As(err, &op) && op.Op == proxyConnect {
		return "HTTP_PROXY, HTTPS_PROXY: no connection by the proxy: " + op.Err.Error()
	}
	if hint := otherScheme(err); hint != "" {
		return "--url: " + hint + " (" + err.Error() + ")"
	}
	if hint := clientUnknown(err, cfg); hint != "" {
		return "--client-cert: " + hint + " (" + err.Error() + ")"
	}
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "too many open files: raise the limit (ulimit -n) or lower --max-concurrency"
	case errors.As(err, &dial) && (errors.As(err, &timeout) && timeout.Timeout()):
		return "--timeout-connect: no connection within " + cfg.TimeoutConnect.String()
	case errors.As(err, &dial):
		return "--url: " + dial.Error()
	case errors.Is(err, io.EOF):
		return "the server closed the connection without an answer"
	}
	return err.Error()
}

// clientUnknown recognises the alerts of a server that wants to know its clients.
func clientUnknown(err error, cfg *Config) string {
	text := err.Error()
	_, alert, ok := strings.Cut(text, "remote error: tls: ")
	refused := ok && slices.ContainsFunc([]string{"certificate required", "handshake failure", "bad certificate", "unknown certificate", "expired certificate", "unsupported certificate"},
		func(s string) bool { return strings.HasPrefix(alert, s) })
	switch {
	case !refused:
		return ""
	case cfg.TLS != nil && len(cfg.TLS.Certificates) > 0:
		return "the server does not accept it"
	case strings.HasPrefix(alert, "certificate required"):
		return "the server wants a certificate of its clients"
	}
	return "the server refuses the handshake; perhaps it wants a certificate of its clients"
}

// otherScheme recognises a port of TLS that was asked in plain HTTP (its answer is a
// TLS alert), a plain port that was asked for a handshake, and HTTP/2.
func otherScheme(err error) string {
	var record tls.RecordHeaderError
	var dial *dialError
	switch {
	case errors.Is(err, errHTTP2), strings.Contains(err.Error(), "tls: no application protocol"):
		return "the server speaks only HTTP/2; every stream is a connection of HTTP/1.1 here: enable HTTP/1.1 on the server, or put a proxy that speaks it in front"
	case strings.Contains(err.Error(), `malformed HTTP response "\x15\x03`):
		return "the port speaks TLS: try https://"
	case errors.As(err, &record) && record.Msg == "first record does not look like a TLS handshake":
		return "the port does not speak TLS: try http://"
	case errors.As(err, &dial) && dial.cause == load.CauseTLS && errors.Is(err, io.EOF):
		return "the port closed the TLS handshake, perhaps it is plain HTTP: try http://"
	}
	return ""
}
