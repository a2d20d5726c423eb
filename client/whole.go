package client

import (
	"bytes"
	"encoding/json"
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
	if err := d.decode(body); err != nil {
		x.fail(load.CauseNotAStream, "neither a stream nor a completion: "+string(body))
		return
	}
	x.note()
	if d.token {
		x.events.pieces = 1
	}
	switch {
	case d.failed:
		x.fail(load.CauseStreamError, d.failure)
	case d.choices == 0:
		x.fail(load.CauseNotAStream, "neither a stream nor a completion: "+string(body))
	case x.s.FinishReason == "":
		x.fail(load.CauseTruncated, "the completion has no finish_reason")
	case !d.token:
		x.fail(load.CauseEmpty, "the completion holds no token")
	}
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
func (x *exchange) refused(r *sse.Reader, location string) {
	body, _ := io.ReadAll(io.LimitReader(r.Rest(), maxErrorBody))
	x.s.End = x.c.now()
	if x.parent.Err() != nil {
		x.broken(x.parent.Err())
		return
	}
	text := errorText(body)
	switch {
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

// retryAfter reads a Retry-After header: seconds or a date.
func retryAfter(v string, now time.Time) (time.Duration, bool) {
	v = strings.TrimSpace(v)
	if v == "" {
		return 0, false
	}
	if seconds, err := strconv.ParseFloat(v, 64); err == nil {
		if !(seconds >= 0 && seconds <= 1e6) { // NaN too
			return 0, false
		}
		return time.Duration(seconds * float64(time.Second)), true
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now)), true
	}
	return 0, false
}
