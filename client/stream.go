package client

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"kneesweep/client/sse"
	"kneesweep/load"
)

var doneMark = []byte("[DONE]")

// understand reads a 2xx answer: a whole completion, or something else than a stream,
// which it leaves. The first byte decides, since servers mislabel their answers.
func (x *exchange) understand(contentType string) (stream bool) {
	r := x.reader
	head, err := r.Peek()
	isStream := strings.HasPrefix(strings.ToLower(contentType), "text/event-stream")
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		x.s.End = r.At()
		x.s.Streaming = isStream
		x.broken(err)
	case err != nil && x.s.Status == http.StatusNoContent:
		x.s.End = r.At()
		x.fail(load.CauseEmpty, "HTTP 204: an answer without content")
	case err != nil && !isStream:
		x.s.End = r.At()
		x.fail(load.CauseEmpty, "the answer has no body")
	case err == nil && binary(head):
		x.s.End = r.At()
		x.fail(load.CauseNotAStream, "neither a stream nor a completion, nor text in UTF-8: the body is compressed, or in UTF-16")
	case err == nil && (head[0] == '{' || head[0] == '['):
		x.whole(r)
	case err == nil && head[0] == '<', !isStream && !bytes.ContainsAny(head[:1], "dier:"):
		x.foreign(r)
	default:
		x.s.Streaming, x.labelled = true, isStream
		return true
	}
	return false
}

// binary reports whether a body cannot be text in UTF-8, by its first bytes.
func binary(head []byte) bool {
	return head[0] < ' ' || head[0] >= 0xfe || bytes.IndexByte(head[:min(len(head), 2)], 0) >= 0 ||
		bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}) // zstd
}

// stream reads events until the stream ends, one way or another.
func (x *exchange) stream() {
	for {
		ev, err := x.reader.Next()
		if err != nil {
			x.s.End = x.reader.At()
			x.streamEnded(err, x.labelled)
			return
		}
		if x.event(ev) {
			x.s.End = ev.At
			x.judge()
			return
		}
	}
}

// event takes one event; true ends the stream.
func (x *exchange) event(ev *sse.Event) bool {
	d := &x.decoded
	failed := string(ev.Type) == "error"
	if len(ev.Stray) > 0 {
		if text, is := x.stray(ev); is || failed && len(ev.Data) == 0 {
			x.raise(ev, cmp.Or(text, errorText(ev.Stray)))
			return true
		}
	}
	data := ev.Data
	if !x.stencil.scan(d, data) {
		data = bytes.TrimSpace(data)
		if len(data) == 0 && !failed {
			return false
		}
		if bytes.Equal(data, doneMark) {
			x.done = true
			return true
		}
		if err := x.decode(ev.Type, data); err != nil && !failed {
			x.puzzled(data)
			if !ev.Cut { // what the end of the stream cut off is not malformed
				x.s.Malformed++
			}
			return false
		}
	}
	if !d.alive {
		x.lastEvent = ev.At
		if len(x.s.Chunks) > 0 {
			x.watch.touch(ev.At)
		}
	}
	if !failed && !d.failed {
		x.take(ev)
		x.done = d.last
		return d.last
	}
	if d.choices > 0 { // the last piece may come with the error
		x.take(ev)
	}
	x.raise(ev, cmp.Or(d.failure, errorText(data)))
	return true
}

// raise ends the stream with an error of the server.
func (x *exchange) raise(ev *sse.Event, text string) {
	x.lastEvent = ev.At
	x.fail(load.CauseStreamError, text)
}

// take notes a frame that was understood. One that repeats the whole message after
// its pieces brings nothing new.
func (x *exchange) take(ev *sse.Event) {
	d := &x.decoded
	if d.token && !d.partial && x.events.partial {
		d.token, d.content, d.reasoning, d.text = false, false, false, nil
	}
	x.note()
	if d.odd && !harmless(string(ev.Type)) {
		x.puzzled(ev.Data)
		x.complain(d)
	}
	if d.token {
		x.events.partial = x.events.partial || d.partial
		x.chunk(ev.At)
	}
	if d.token || len(d.finish) > 0 {
		x.complaint = ""
	}
}

// streamEnded judges a stream that ended without [DONE].
func (x *exchange) streamEnded(err error, labelled bool) {
	finished := x.s.FinishReason != ""
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF) && x.unhindered():
		nothing := x.events.understood == 0 && x.s.Malformed == 0
		if nothing && (!labelled || bytes.IndexByte(x.odd, 0) >= 0) { // UTF-16 is full of NUL
			x.failShort(load.CauseNotAStream, "the answer is neither a stream nor a completion")
			return
		}
		x.judge()
	case x.complaint != "" && x.unhindered() && !errors.Is(err, sse.ErrFrameTooLong):
		x.judge()
	case finished && x.stopped() == nil && !errors.Is(err, sse.ErrFrameTooLong):
		// Everything asked for has come; only the end of the body is missing.
		x.s.End = x.lastEvent
		x.judge()
	default:
		x.broken(err)
	}
}

// judge decides on a stream that was read to its end.
func (x *exchange) judge() {
	switch {
	case x.s.Cause != "":
	case x.complaint != "":
		x.fail(load.CauseStreamError, x.complaint)
	case x.s.Malformed > 0 && x.events.understood == 0:
		x.failShort(load.CauseMalformed, "no frame of the stream could be understood")
	case !x.done && x.s.FinishReason == "":
		x.failShort(load.CauseTruncated, "the stream ended without "+x.wire.ending)
	case x.events.pieces == 0:
		x.fail(load.CauseEmpty, "the answer holds no token")
	}
}

// finish settles what can only be said at the end of an attempt.
func (x *exchange) finish() {
	x.count()
	s := x.s
	if s.Malformed > 0 {
		s.Warnings = append(s.Warnings, load.Warnf(load.WarnMalformedFrames, "%d frames could not be understood", s.Malformed))
	}
	if s.Cause != "" {
		return
	}
	if !s.Streaming && !x.c.cfg.NoStream {
		s.Warnings = append(s.Warnings, load.Warnf(load.WarnNotStreamed, "a stream was asked for, but the answer came in one piece"))
	}
	if s.TokenSource == load.SourceEstimated {
		s.Warnings = append(s.Warnings, load.Warnf(load.WarnEstimatedTokens,
			"the server sent no usage; %d pieces of the answer were counted as one token each", s.OutputTokens))
	}
	if s.HiddenTokens > 0 {
		s.Warnings = append(s.Warnings, load.Warnf(load.WarnHiddenTokens,
			"%d of %d tokens were billed but never streamed", s.HiddenTokens, s.OutputTokens))
	}
	if buffered(s) {
		s.Warnings = append(s.Warnings, load.Warnf(load.WarnBuffered,
			"%d tokens arrived at once: something on the way collects the stream, or the server does not stream", s.Streamed()))
	}
}

// buffered reports whether a stream of at least 8 tokens arrived in a burst: chunks
// less than burstGap apart, faster than any endpoint generates. A burst of all
// chunks is one; of many chunks, nine in ten, or two bursts, are enough (a proxy may
// let the first through).
func buffered(s *load.Sample) bool {
	const (
		least    = 8
		burstGap = 200 * time.Microsecond
	)
	m := len(s.Chunks)
	if m == 0 || s.Streamed() < least {
		return false
	}
	bursts, run, longest := 1, 1, 1
	for i := 1; i < m; i++ {
		if s.Chunks[i].At-s.Chunks[i-1].At < burstGap {
			run++
		} else {
			bursts, run = bursts+1, 1
		}
		longest = max(longest, run)
	}
	return bursts == 1 || m >= least && (bursts == 2 || 10*longest >= 9*m)
}
