package sim

import (
	"encoding/json"
	"fmt"
	"strings"
)

// word is the text of one simulated token.
const word = "knee "

// frames writes the server-sent events of one answer.
type frames struct {
	model   string
	usage   bool // a usage frame was asked for
	growing bool // usage grows with every chunk
	cached  []byte
	cachedN int
}

func (f *frames) chunk(delta, finish, extra string) []byte {
	return fmt.Appendf(nil, `data: {"id":"chatcmpl-sim","object":"chat.completion.chunk","created":0,"model":%q,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]%s}`+"\n\n",
		f.model, delta, finish, extra)
}

// role is the first frame of a stream; it carries no token.
func (f *frames) role() []byte { return f.chunk(`{"role":"assistant","content":""}`, "null", "") }

// tokens is a frame of n tokens; visible counts those so far, with these.
func (f *frames) tokens(n, prompt, hidden, visible int) []byte {
	if f.growing {
		u, _ := json.Marshal(usage(prompt, hidden, visible))
		return f.chunk(`{"content":"`+strings.Repeat(word, n)+`"}`, "null", `,"usage":`+string(u))
	}
	if f.cached == nil || f.cachedN != n {
		f.cached, f.cachedN = f.chunk(`{"content":"`+strings.Repeat(word, n)+`"}`, "null", ""), n
	}
	return f.cached
}

// end is the finish frame, usage if asked for, and the terminator.
func (f *frames) end(prompt, hidden, visible int) []byte {
	out := f.chunk("{}", `"length"`, "")
	if f.usage {
		u, _ := json.Marshal(usage(prompt, hidden, visible))
		out = fmt.Appendf(out, `data: {"id":"chatcmpl-sim","object":"chat.completion.chunk","created":0,"model":%q,"choices":[],"usage":%s}`+"\n\n", f.model, u)
	}
	return append(out, "data: [DONE]\n\n"...)
}

// fail is an error object inside a stream.
func (f *frames) fail() []byte {
	e, _ := json.Marshal(errorObject("server_error", simulatedError))
	return fmt.Appendf(nil, "data: %s\n\ndata: [DONE]\n\n", e)
}
