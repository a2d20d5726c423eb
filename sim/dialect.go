package sim

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// word is the text of one simulated token, and worseWord that of a bad answer.
const (
	word      = "knee "
	worseWord = "sway "
)

// dialect is a wire format in which the endpoint answers.
type dialect struct {
	path    string
	check   func(*question, http.Header) (missing string)
	frames  func(answer) frames
	whole   func(*answer) any
	failure func(kind, message string) any // the body of an error
}

// dialects are tried in this order: one path ends in another.
var dialects = []*dialect{
	{"/chat/completions", needsMessages, chatFrames, wholeChat, errorObject},
	{"/completions", needsPrompt, textFrames, wholeText, errorObject},
	{"/responses", needsInput, newResponseFrames, wholeResponse, errorObject},
	{"/messages", needsLimit, newMessageFrames, wholeMessage, messageError},
}

func dialectAt(path string) *dialect {
	for _, d := range dialects {
		if strings.HasSuffix(path, d.path) {
			return d
		}
	}
	return nil
}

// frames writes the server-sent events of one answer.
type frames interface {
	begin() []byte             // before the first token
	tokens(n, sent int) []byte // n tokens; sent counts those so far, with these
	end() []byte
	fail() []byte // an error in the place of what is left
}

// answer is what there is to say of one request.
type answer struct {
	model, word             string
	prompt, hidden, visible int
	cached                  int  // prompt tokens
	caching                 bool // there is a cache to speak of
	usage                   bool // reported at all
	asked                   bool // the request asked for usage in the stream
	growing                 bool // usage grows with every chunk
}

func (a *answer) text() string { return strings.Repeat(a.word, a.visible) }

// question is the part of a request that the endpoint looks at, in any dialect.
type question struct {
	Model               string `json:"model"`
	Messages            words  `json:"messages"`
	System              words  `json:"system"`
	Prompt              words  `json:"prompt"`
	Input               words  `json:"input"`
	MaxTokens           int    `json:"max_tokens"`
	MaxCompletionTokens int    `json:"max_completion_tokens"`
	MaxOutputTokens     int    `json:"max_output_tokens"`
	Stream              bool   `json:"stream"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

// prompt is the prompt as its tokens, in the order in which a model reads them.
func (q *question) prompt() []string {
	return slices.Concat(q.System.list, q.Messages.list, q.Prompt.list, q.Input.list)
}

// words are the simulated tokenizer's tokens of a text, of an array of turns or parts,
// or of one of these.
type words struct {
	list  []string
	asked bool // something is there, if only an empty text
}

func (w *words) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case '"':
		var text string
		if err := json.Unmarshal(b, &text); err != nil {
			return err
		}
		*w = words{strings.Fields(text), true}
	case '[':
		var list []words
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		*w = words{asked: len(list) > 0}
		for _, part := range list {
			w.list = append(w.list, part.list...)
		}
	case '{':
		var part struct{ Content, Text words }
		if err := json.Unmarshal(b, &part); err != nil {
			return err
		}
		*w = words{append(part.Content.list, part.Text.list...), true}
	}
	return nil
}

func needsMessages(q *question, _ http.Header) string {
	return need(q.Messages.asked, "messages is empty")
}

func needsPrompt(q *question, _ http.Header) string {
	return need(q.Prompt.asked, "prompt is missing")
}

func needsInput(q *question, _ http.Header) string {
	return need(q.Input.asked, "input is missing")
}

func need(there bool, missing string) string {
	if there {
		return ""
	}
	return missing
}

func errorObject(kind, message string) any {
	return map[string]any{"error": map[string]any{"message": message, "type": kind}}
}

// repeated keeps the last frame, since one with as many tokens is equal.
type repeated struct {
	frame []byte
	n     int
}

func (r *repeated) of(word string, n int, build func(text string) []byte) []byte {
	if r.frame == nil || r.n != n {
		r.frame, r.n = build(strings.Repeat(word, n)), n
	}
	return r.frame
}

// event is a server-sent event with a name, which stands in its data too.
func event(name string, fields string) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: {\"type\":%q%s}\n\n", name, name, fields)
}

// jsonOf is a value that can be written as JSON, written.
func jsonOf(v any) []byte {
	b, _ := json.Marshal(v)
	return b
}
