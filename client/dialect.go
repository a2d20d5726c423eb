package client

import (
	"net/http"

	"kneesweep/load"
)

// Dialect names the wire format that an endpoint speaks. Empty means [Chat].
type Dialect string

// The dialects, by the path that is asked.
const (
	Chat        Dialect = "chat"        // /v1/chat/completions
	Completions Dialect = "completions" // /v1/completions: one text, no turns
	Responses   Dialect = "responses"   // /v1/responses
	Anthropic   Dialect = "anthropic"   // /v1/messages
)

// Dialects lists the dialects.
func Dialects() []Dialect { return []Dialect{Chat, Completions, Responses, Anthropic} }

// wire is what dialects differ in: where and how is asked, and what an event or a
// whole answer means. Times, counts and causes of failure come from a [delta] alone,
// and so are the same for all.
type wire struct {
	path   string // of the endpoint, below /v1
	header http.Header
	auth   Auth // how the key is sent by default

	prompt  func(b *body, p load.Prompt)
	fields  []string // those that prompt may add
	limit   string   // the field that limits the answer, by default
	options bool     // usage in a stream is asked for by stream_options

	// decode reads the data of one event, whose name is empty if it had none, or a
	// whole answer. It fails on what is no JSON object and on nothing else.
	decode func(d *delta, name, data []byte) error
	quick  bool // scan.go reads most events without decode

	finish string // what tells in a whole answer why generation ended
	ending string // what ends a stream
}

// wire returns the format of the dialect; of an unknown one, that of chat.
func (d Dialect) wire() *wire {
	if w, ok := wires[d]; ok {
		return w
	}
	return wires[Chat]
}

var wires = map[Dialect]*wire{
	Chat: {
		path: "chat/completions", auth: AuthBearer,
		prompt: chatPrompt, fields: []string{"messages"}, limit: "max_tokens", options: true,
		decode: decodeChat, quick: true, finish: "finish_reason", ending: "finish_reason or [DONE]",
	},
	Completions: {
		path: "completions", auth: AuthBearer,
		prompt: textPrompt, fields: []string{"prompt"}, limit: "max_tokens", options: true,
		decode: decodeChat, finish: "finish_reason", ending: "finish_reason or [DONE]",
	},
	Responses: {
		path: "responses", auth: AuthBearer,
		prompt: responsePrompt, fields: []string{"input"}, limit: "max_output_tokens",
		decode: decodeResponse, finish: "final status", ending: "response.completed or response.incomplete",
	},
	Anthropic: {
		path: "messages", auth: AuthXAPIKey, header: http.Header{"Anthropic-Version": {"2023-06-01"}},
		prompt: messagesPrompt, fields: []string{"system", "messages"}, limit: "max_tokens",
		decode: decodeMessage, finish: "stop_reason", ending: "stop_reason or message_stop",
	},
}

// Auth names the header in which the key is sent.
type Auth string

// The ways to send a key.
const (
	AuthBearer  Auth = "bearer"    // Authorization: Bearer KEY
	AuthAPIKey  Auth = "api-key"   // Api-Key: KEY
	AuthXAPIKey Auth = "x-api-key" // X-Api-Key: KEY
	AuthNone    Auth = "none"      // it is not sent
)

// Auths lists the ways to send a key.
func Auths() []Auth { return []Auth{AuthBearer, AuthAPIKey, AuthXAPIKey, AuthNone} }

// identify adds the headers that a dialect asks for, and the key.
func (c Config) identify(h http.Header) {
	w := c.Dialect.wire()
	for name, values := range w.header {
		h[name] = values
	}
	auth := c.Auth
	if auth == "" {
		auth = w.auth
	}
	switch {
	case c.APIKey == "" || auth == AuthNone:
	case auth == AuthBearer:
		h.Set("Authorization", "Bearer "+c.APIKey)
	default:
		h.Set(string(auth), c.APIKey)
	}
}
