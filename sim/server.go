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

// ServeHTTP serves POST …/chat/completions, streaming and not, GET …/models, and GET
// /metrics with the names of vLLM.
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		if r.Method != http.MethodPost {
			refuse(w, http.StatusMethodNotAllowed, "invalid_request_error", "use POST")
			return
		}
		e.chat(w, r)
	case strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, map[string]any{
			"object": "list", "data": []any{map[string]any{"id": e.cfg.Model, "object": "model", "created": 0, "owned_by": "sim"}},
		})
	case r.URL.Path == "/metrics":
		e.metrics(w)
	default:
		refuse(w, http.StatusNotFound, "invalid_request_error", "no such path; serves /v1/chat/completions and /v1/models")
	}
}

// chatBody is the part of a request that the endpoint looks at.
type chatBody struct {
	Model    string `json:"model"`
	Messages []struct {
		Content string `json:"content"`
	} `json:"messages"`
	MaxTokens           int  `json:"max_tokens"`
	MaxCompletionTokens int  `json:"max_completion_tokens"`
	Stream              bool `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// promptTokens counts words: the simulated tokenizer.
func (b *chatBody) promptTokens() int {
	n := 0
	for _, m := range b.Messages {
		n += len(strings.Fields(m.Content))
	}
	return n
}

func (e *Endpoint) chat(w http.ResponseWriter, hr *http.Request) {
	raw, err := io.ReadAll(http.MaxBytesReader(w, hr.Body, maxBody))
	if err != nil {
		refuse(w, http.StatusRequestEntityTooLarge, "invalid_request_error", err.Error())
		return
	}
	var body chatBody
	if err := json.Unmarshal(raw, &body); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request_error", "body is not the expected JSON: "+err.Error())
		return
	}
	switch {
	case len(body.Messages) == 0:
		refuse(w, http.StatusBadRequest, "invalid_request_error", "messages is empty")
		return
	case body.Model != e.cfg.Model:
		refuse(w, http.StatusNotFound, "model_not_found", fmt.Sprintf("model %q does not exist; served: %q", body.Model, e.cfg.Model))
		return
	}
	visible := max(body.MaxTokens, body.MaxCompletionTokens)
	if visible <= 0 {
		visible = e.cfg.OutputTokens
	}
	r := newRequest(hr.Context(), body.promptTokens(), e.cfg.HiddenTokens, visible)
	if status := e.engine.submit(r); status != 0 {
		if status == http.StatusTooManyRequests && e.cfg.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(wholeSeconds(e.cfg.RetryAfter).Seconds())))
		}
		refuse(w, status, "server_error", http.StatusText(status))
		return
	}
	if body.Stream {
		e.stream(w, r, &frames{model: e.cfg.Model, usage: body.StreamOptions.IncludeUsage && !e.cfg.NoUsage, growing: e.cfg.UsageInChunks})
	} else {
		e.whole(w, r)
	}
}

// stream writes each event as it happens.
func (e *Endpoint) stream(w http.ResponseWriter, r *request, f *frames) {
	flush := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	var events []Emit
	began, sent := false, 0
	for {
		var open, ended bool
		events, open, ended = r.take(events[:0])
		if open && !began {
			began = true
			_, _ = w.Write(f.role())
		}
		for _, ev := range events {
			sent += ev.Tokens
			_, _ = w.Write(f.tokens(ev.Tokens, r.promptTokens, r.hidden, sent))
		}
		if ended && !r.stalls() {
			switch r.fault {
			case faultTruncate:
				_ = flush.Flush()
				panic(http.ErrAbortHandler) // closes the connection in mid-stream
			case faultStreamError:
				_, _ = w.Write(f.fail())
			default:
				_, _ = w.Write(f.end(r.promptTokens, r.hidden, r.visible))
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
func (e *Endpoint) whole(w http.ResponseWriter, r *request) {
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
		writeJSON(w, http.StatusOK, errorObject("server_error", simulatedError))
		return
	}
	answer := map[string]any{
		"id": "chatcmpl-sim", "object": "chat.completion", "created": 0, "model": e.cfg.Model,
		"choices": []any{map[string]any{
			"index": 0, "finish_reason": "length",
			"message": map[string]any{"role": "assistant", "content": strings.Repeat(word, r.visible)},
		}},
	}
	if !e.cfg.NoUsage {
		answer["usage"] = usage(r.promptTokens, r.hidden, r.visible)
	}
	writeJSON(w, http.StatusOK, answer)
}

func usage(prompt, hidden, visible int) map[string]any {
	u := map[string]any{"prompt_tokens": prompt, "completion_tokens": hidden + visible, "total_tokens": prompt + hidden + visible}
	if hidden > 0 {
		u["completion_tokens_details"] = map[string]any{"reasoning_tokens": hidden}
	}
	return u
}

func errorObject(kind, message string) map[string]any {
	return map[string]any{"error": map[string]any{"message": message, "type": kind}}
}

func refuse(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, errorObject(kind, message))
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
