package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"kneesweep/client/sse"
	"kneesweep/load"
)

const (
	maxErrorBody = 64 << 10 // bytes of a refusal that are looked at
	maxErrorText = 200      // bytes of error text that are kept
)

// whole reads an answer that came as one JSON document.
func (x *exchange) whole(r *sse.Reader) {
	body, err := io.ReadAll(io.LimitReader(r.Rest(), sse.MaxFrame+1))
	x.s.End = x.c.now()
	switch {
	case err != nil:
		x.broken(err)
		return
	case len(body) > sse.MaxFrame:
		x.fail(load.CauseFrameTooLong, sse.ErrFrameTooLong.Error())
		return
	}
	d := &x.decoded
	if err := x.wire.decode(d, nil, body); err != nil {
		x.notWhole(body)
		return
	}
	x.note()
	if d.token {
		x.events.pieces = 1
	}
	switch {
	case d.failed, d.complaint:
		x.fail(load.CauseStreamError, d.failure)
	case d.choices == 0:
		x.fail(load.CauseNotAStream, "neither a stream nor a completion: "+string(body))
	case x.s.FinishReason == "":
		x.fail(load.CauseTruncated, "the completion has no "+x.wire.finish)
	case !d.token:
		x.fail(load.CauseEmpty, "the completion holds no token")
	}
}

// notWhole names the fault of a body that begins like JSON but is not one object: it
// was cut short, or more follows an error, or it is something else.
func (x *exchange) notWhole(body []byte) {
	var first json.RawMessage
	d := &x.decoded
	switch err := json.NewDecoder(bytes.NewReader(body)).Decode(&first); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		x.fail(load.CauseTruncated, "the JSON body ends too early: "+string(body))
	case err == nil && x.wire.decode(d, nil, first) == nil && d.failed:
		x.fail(load.CauseStreamError, d.failure)
	default:
		x.fail(load.CauseNotAStream, "neither a stream nor a completion: "+string(body))
	}
}

// packed returns the content encoding of an answer if it is a compression; servers
// write other things there too, such as "none".
func packed(h http.Header) string {
	for _, line := range h.Values("Content-Encoding") {
		for name := range strings.SplitSeq(line, ",") {
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "gzip", "x-gzip", "br", "deflate", "zstd", "compress", "x-compress", "dcb", "dcz":
				return name
			}
		}
	}
	return ""
}

// foreign reports a 2xx answer of another kind, such as a login page.
func (x *exchange) foreign(r *sse.Reader) {
	head, err := io.ReadAll(io.LimitReader(r.Rest(), maxErrorBody))
	x.s.End = x.c.now()
	if err != nil && !x.unhindered() {
		x.broken(err)
		return
	}
	x.fail(load.CauseNotAStream, "neither a stream nor a completion: "+string(head))
}

// refused reads the answer to a request that was not accepted.
func (x *exchange) refused(r *sse.Reader, h http.Header) {
	body, _ := io.ReadAll(io.LimitReader(r.Rest(), maxErrorBody))
	x.s.End = x.c.now()
	if x.stopped() != nil {
		x.broken(x.stopped())
		return
	}
	text, location := errorText(body), h.Get("Location")
	switch {
	case packed(h) != "":
		text = http.StatusText(x.s.Status) + " (the reason came with Content-Encoding " + packed(h) + ", which was not asked for)"
	case location != "" && x.s.Status < 400:
		text = "--url: the server redirects to " + location
	case text == "":
		text = http.StatusText(x.s.Status)
	}
	x.fail(load.HTTPCause(x.s.Status), text)
}

// fail sets the cause of the failure, unless there is one already, and its text.
func (x *exchange) fail(cause load.Cause, text string) {
	if x.s.Cause != "" {
		return
	}
	if text == "" {
		text = "the server gives no reason"
	}
	x.s.Cause, x.s.Error = cause, x.c.shown(text)
}

// shown makes text of the server fit to be stored and printed: masked, valid UTF-8,
// on one line, without control characters (a terminal obeys them), and at most
// 200 bytes. It is masked before it is cut, so that no part of a secret remains.
func (c *Client) shown(text string) string {
	text = c.mask.Mask(strings.ToValidUTF8(text, "\ufffd"))
	text = strings.Join(strings.Fields(text), " ")
	text = strings.Map(printable, text)
	text = c.mask.Mask(text)
	if len(text) <= maxErrorText {
		return text
	}
	const dots = "…"
	cut := maxErrorText - len(dots)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + dots
}

// printable drops control characters.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}

// raised reports whether the value of an error field means an error.
func raised(v json.RawMessage) bool {
	switch string(bytes.TrimSpace(v)) {
	case "", "null", "false", `""`:
		return false
	}
	return true
}

// errorText finds the words in an error body: OpenAI's object, a plain string, a
// gateway's message, a validation report, or else the body itself.
func errorText(body []byte) string {
	body = bytes.TrimSpace(body)
	if len(body) == 0 {
		return ""
	}
	if text := message(body, 0); text != "" {
		return text
	}
	return string(body)
}

// message looks for the message in a JSON value, at most a few levels down.
func message(v json.RawMessage, depth int) string {
	v = bytes.TrimSpace(v)
	if len(v) == 0 || depth > 4 {
		return ""
	}
	switch v[0] {
	case '"':
		var text string
		if json.Unmarshal(v, &text) != nil {
			return ""
		}
		return text
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(v, &list) != nil {
			return ""
		}
		var texts []string
		for _, item := range list[:min(len(list), 5)] {
			if text := message(item, depth+1); text != "" {
				texts = append(texts, text)
			}
		}
		return strings.Join(texts, "; ")
	case '{':
		var fields struct {
			Error   json.RawMessage `json:"error"`
			Message json.RawMessage `json:"message"`
			Detail  json.RawMessage `json:"detail"`
			Msg     string          `json:"msg"`
			Loc     []any           `json:"loc"`
		}
		if mostly(json.Unmarshal(v, &fields)) != nil {
			return ""
		}
		for _, inner := range []json.RawMessage{fields.Error, fields.Message, fields.Detail} {
			if text := message(inner, depth+1); text != "" {
				return text
			}
		}
		if fields.Msg != "" && len(fields.Loc) > 0 {
			return fmt.Sprintf("%v: %s", fields.Loc[len(fields.Loc)-1], fields.Msg)
		}
		return fields.Msg
	}
	return ""
}

// retryAfter reads how long the server asks to wait: the larger of Retry-After,
// seconds or a date, and retry-after-ms.
func retryAfter(h http.Header, now time.Time) load.Opt[time.Duration] {
	var wait load.Opt[time.Duration]
	longer := func(d time.Duration) {
		if !wait.OK || d > wait.V {
			wait = load.Some(d)
		}
	}
	number := func(v string, unit time.Duration) bool {
		n, err := strconv.ParseFloat(v, 64)
		if n *= unit.Seconds(); err == nil && n >= 0 && n <= 1e6 { // not NaN
			longer(time.Duration(n * float64(time.Second)))
		}
		return err == nil
	}
	after := strings.TrimSpace(h.Get("Retry-After"))
	if !number(after, time.Second) {
		if at, err := http.ParseTime(after); err == nil {
			longer(max(0, at.Sub(now)))
		}
	}
	number(strings.TrimSpace(h.Get("Retry-After-Ms")), time.Millisecond)
	return wait
}
