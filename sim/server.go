package sim

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	simulatedError = "simulated fault"
	maxBody        = 64 << 20
)

// ServeHTTP serves every dialect at its path, streaming and not, GET …/models, and GET
// /metrics with the names of vLLM.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := dialectAt(r.URL.Path)
	switch {
	case d != nil && r.Method != http.MethodPost:
		d.refuse(w, http.StatusMethodNotAllowed, "invalid_request_error", "use POST")
	case d != nil:
		e.generate(w, r, d)
	case strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, map[string]any{
			"object": "list", "data": []any{map[string]any{"id": e.cfg.Model, "object": "model", "created": 0, "owned_by": "sim"}},
		})
	case r.URL.Path == "/metrics":
		e.metrics(w)
	default:
		dialects[0].refuse(w, http.StatusNotFound, "invalid_request_error", "no such path; serves /v1/chat/completions, /v1/completions, /v1/responses, /v1/messages and /v1/models")
	}
}

// generate answers a request in its dialect.
func (e *Endpoint) generate(w http.ResponseWriter, hr *http.Request, d *dialect) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, maxBody))
	if err != nil {
		d.refuse(w, http.StatusRequestEntityTooLarge, "invalid_request_error", err.Error())
		return
	}
	var q question
	if err := json.Unmarshal(raw, &q); err != nil {
		d.refuse(w, http.StatusBadRequest, "invalid_request_error", "body is not the expected JSON: "+err.Error())
		return
	}
	if missing := d.check(&q, hr.Header); missing != "" {
		d.refuse(w, http.StatusBadRequest, "invalid_request_error", missing)
		return
	}
	if q.Model != e.cfg.Model {
		d.refuse(w, http.StatusNotFound, "model_not_found", fmt.Sprintf("model %q does not exist; served: %q", q.Model, e.cfg.Model))
		return
	}
	visible := max(q.MaxTokens, q.MaxCompletionTokens, q.MaxOutputTokens)
	if visible <= 0 {
		visible = e.cfg.OutputTokens
	}
	prompt := q.prompt()
	r := newRequest(hr.Context(), len(prompt), e.cfg.HiddenTokens, visible)
	if e.cfg.PrefixCache > 0 {
		r.blocks = blocks(prompt)
	}
	if status := e.engine.submit(r); status != 0 {
		if status == http.StatusTooManyRequests && e.cfg.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wholeSeconds(e.cfg.RetryAfter).Seconds())))
		}
		d.refuse(w, status, "server_error", http.StatusText(status))
		return
	}
	w.Header().Set(ServedBy, r.model)
	a := answer{
		model: r.model, prompt: r.promptTokens, hidden: r.hidden, visible: r.visible,
		usage: !e.cfg.NoUsage, asked: q.StreamOptions.IncludeUsage, growing: e.cfg.UsageInChunks, caching: e.cfg.PrefixCache > 0,
	}
	if q.Stream {
		e.stream(w, r, d, a)
	} else {
		e.whole(w, r, d, &a)
	}
}

// stream writes each event as it happens.
func (e *Endpoint) stream(w http.ResponseWriter, r *request, d *dialect, a answer) {
	flush := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	var events []Emit
	var f frames // once it is known what a cache had
	sent := 0
	for {
		var open, ended bool
		events, open, ended = r.take(events[:0])
		if open && f == nil {
			a.cached, a.word = r.cached, r.word()
			f = d.frames(a)
			_, _ = w.Write(f.begin())
		}
		for _, ev := range events {
			sent += ev.Tokens
			_, _ = w.Write(f.tokens(ev.Tokens, sent))
		}
		if ended && !r.stalls() {
			switch r.fault {
			case faultTruncate:
				_ = flush.Flush()
				panic(http.ErrAbortHandler) // closes the connection in mid-stream
			case faultStreamError:
				_, _ = w.Write(f.fail())
			default:
				_, _ = w.Write(f.end())
			}
			return
		}
		_ = flush.Flush()
		select {
		case <-r.notify:
		case <-r.ctx.Done():
			return
		}
	}
}

// whole answers without streaming.
func (e *Endpoint) whole(w http.ResponseWriter, r *request, d *dialect, a *answer) {
	for {
		if _, _, ended := r.take(nil); ended && !r.stalls() {
			break
		}
		select {
		case <-r.notify:
		case <-r.ctx.Done():
			return
		}
	}
	switch r.fault {
	case faultTruncate:
		panic(http.ErrAbortHandler)
	case faultStreamError:
		writeJSON(w, http.StatusOK, d.failure("server_error", simulatedError))
	default:
		a.cached, a.word = r.cached, r.word()
		writeJSON(w, http.StatusOK, d.whole(a))
	}
}

func (d *dialect) refuse(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, d.failure(kind, message))
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// Serve answers HTTP on a listener until the returned stop function is called;
// stop waits for the server to end.
func (e *Endpoint) Serve(l net.Listener) (stop func()) {
	srv := &http.Server{Handler: e, ReadHeaderTimeout: time.Minute, ErrorLog: log.New(io.Discard, "", 0)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l)
	}()
	return func() {
		_ = srv.Close()
		<-done
	}
}
