package client

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"kneesweep/client/sse"
	"kneesweep/load"
)

// This file is about what a server says in a stream outside of the dialect. Its
// words must not get lost, and a frame that only keeps a connection alive must not
// fail a good answer. So there are three kinds:
//
//   - errors end the stream as stream_error: see [ended] and [delta.wonder];
//   - complaints may be errors: they are one if nothing generated and no
//     finish_reason follows;
//   - all else that was not understood is quoted if the stream ends too early.

// wonder looks at a frame that is neither a piece of an answer nor an error in the
// usual place. With words in message or detail it is an error if a status of 400 to
// 599 stands beside them, and a complaint otherwise.
func (d *delta) wonder(kind string, status json.RawMessage, data []byte) {
	var signs struct {
		Code   json.RawMessage `json:"code"`
		Status json.RawMessage `json:"status_code"`
		Camel  json.RawMessage `json:"statusCode"`
		OK     json.RawMessage `json:"success"`
	}
	if mostly(json.Unmarshal(data, &signs)) != nil || harmless(kind) {
		d.alive = d.alive || keepsAlive(kind)
		return
	}
	d.odd = true
	d.failure = message(data, 0)
	if d.failure == "" {
		return
	}
	d.complaint = true
	for _, v := range []json.RawMessage{signs.Code, signs.Status, signs.Camel, status} {
		n, err := strconv.Atoi(string(bytes.Trim(v, `"`)))
		d.failed = d.failed || err == nil && n >= 400 && n <= 599
	}
	d.failed = d.failed || string(signs.OK) == "false"
}

// harmless reports whether the type of a frame says that it only keeps the
// connection alive or tells of progress.
func harmless(kind string) bool {
	kind = strings.ToLower(kind)
	if strings.Contains(kind, "error") {
		return false
	}
	if keepsAlive(kind) {
		return true
	}
	for _, word := range []string{"progress", "status", "info", "queue", "start", "delta"} {
		if strings.Contains(kind, word) {
			return true
		}
	}
	return false
}

// keepsAlive reports whether the type of a frame says that it has nothing to tell, as a
// comment. Servers send such frames while nothing is generated: they end no silence.
func keepsAlive(kind string) bool {
	kind = strings.ToLower(kind)
	return strings.Contains(kind, "ping") || strings.Contains(kind, "alive") || strings.Contains(kind, "heartbeat")
}

// ended reports whether a finish_reason means that the server gave up. An abort by
// the server is no success either: the answer is not what was asked for, and its
// times are those of a broken request.
func ended(finish []byte) bool {
	switch string(finish) {
	case "error", "abort", "aborted", "cancelled", "canceled":
		return true
	}
	return false
}

// stray takes text that is no field of a stream: a line "error: …", a JSON object
// without "data:", or anything. It returns the words of an error.
func (x *exchange) stray(ev *sse.Event) (failure string, failed bool) {
	text := bytes.TrimSpace(ev.Stray)
	if name, rest, ok := bytes.Cut(text, []byte(":")); ok && bytes.EqualFold(name, []byte("error")) {
		if rest = bytes.TrimSpace(rest); !raised(rest) {
			return "", false
		}
		return errorText(rest), true
	}
	x.puzzled(text)
	var d delta
	if x.wire.decode(&d, nil, text) != nil {
		return "", false
	}
	x.complain(&d)
	return d.failure, d.failed
}

// puzzled keeps the last thing that was not understood.
func (x *exchange) puzzled(data []byte) {
	x.odd = append(x.odd[:0], data[:min(len(data), maxErrorBody)]...)
}

// complain keeps a complaint until something shows that it was none.
func (x *exchange) complain(d *delta) {
	if d.complaint && x.s.FinishReason == "" {
		x.complaint = d.failure
	}
}

// failShort fails with text and quotes what was not understood.
func (x *exchange) failShort(cause load.Cause, text string) {
	if len(x.odd) > 0 {
		text += "; not understood: " + string(x.odd)
	}
	x.fail(cause, text)
}
