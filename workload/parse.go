package workload

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"kneesweep/load"
)

const maxMaxTokens = 100_000_000

// wanted shows what a line must be.
const wanted = `a line is {"prompt":"…"} or {"messages":[{"role":"user","content":"…"}]}, each with "max_tokens" if you like`

// roles may speak in a prompt.
var roles = []string{"system", "developer", "user", "assistant"}

// parseRecord reads one prompt in any of the formats. Recorded says that the
// longest answer is an estimate of the one that stands there.
func parseRecord(text []byte) (p load.Prompt, recorded bool, err error) {
	fields, err := object(text, wanted)
	if err != nil {
		return p, false, err
	}
	if turns, ok := fields["conversations"]; ok {
		return parseShareGPT(turns)
	}
	if body, ok := fields["body"]; ok { // of OpenAI's batches
		if body[0] != '{' {
			return p, false, fmt.Errorf(`"body" is %s; write the body of a request as an object`, kind(body))
		}
		if fields, err = object(body, wanted); err != nil {
			return p, false, fmt.Errorf(`"body": %w`, err)
		}
	}
	p, err = parseFields(fields)
	return p, false, err
}

// parseFields reads the fields of a request. Those that it does not know are ignored.
func parseFields(fields map[string]json.RawMessage) (p load.Prompt, err error) {
	messages, chat := fields["messages"]
	prompt, plain := fields["prompt"]
	switch {
	case chat && plain:
		return p, errors.New(`has both "messages" and "prompt"; remove one of them`)
	case chat:
		p.Messages, err = parseMessages(messages)
	case plain:
		p.Messages, err = parsePrompt(prompt)
	default:
		return p, fmt.Errorf(`has neither "messages" nor "prompt"%s; %s`, present(fields), wanted)
	}
	for _, name := range []string{"max_tokens", "max_completion_tokens"} {
		if limit, ok := fields[name]; ok && err == nil && string(limit) != "null" {
			p.OutputTokens, err = parseLimit(name, limit)
		}
	}
	return p, err
}

// object reads the fields of a line, and says what it is if it is no object.
func object(text []byte, wanted string) (map[string]json.RawMessage, error) {
	switch {
	case text[0] == '[':
		return nil, errors.New("begins a JSON list; write one object a line, without the list around them (jq -c '.[]')")
	case text[0] != '{':
		return nil, errors.New("not a JSON object; " + wanted)
	}
	var fields map[string]json.RawMessage
	d := json.NewDecoder(bytes.NewReader(text))
	err := d.Decode(&fields)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, errors.New("the object does not end on its line; write each on one line (jq -c .)")
	case err != nil:
		return nil, fmt.Errorf("not JSON: %w; %s", err, wanted)
	case d.InputOffset() < int64(len(text)):
		return nil, fmt.Errorf("something follows the object at byte %d; write one object a line", d.InputOffset()+1)
	}
	return fields, nil
}

// present lists what a line has instead, as far as it is short.
func present(fields map[string]json.RawMessage) string {
	const most = 5
	var names []string
	for name := range fields {
		if len(name) <= 40 {
			names = append(names, fmt.Sprintf("%q", name))
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	if len(names) > most {
		names = append(names[:most], "…")
	}
	return " (it has " + strings.Join(names, ", ") + ")"
}

// parsePrompt reads the text of a user.
func parsePrompt(raw json.RawMessage) ([]load.Message, error) {
	var text string
	if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
		return nil, fmt.Errorf(`"prompt" is %s; write the text as one string`, kind(raw))
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New(`"prompt" is empty; write a text, or remove the line`)
	}
	return []load.Message{{Role: "user", Content: text}}, nil
}

// parseMessages reads the turns of a chat. Only text can be sent: what would be
// lost is refused.
func parseMessages(raw json.RawMessage) ([]load.Message, error) {
	var turns []map[string]json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &turns) != nil {
		return nil, fmt.Errorf(`"messages" is %s; write a list of objects, [{"role":"user","content":"…"}]`, kind(raw))
	}
	out := make([]load.Message, 0, len(turns))
	empty := true
	for i, turn := range turns {
		m, err := parseTurn(turn)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		empty = empty && strings.TrimSpace(m.Content) == ""
		out = append(out, m)
	}
	if empty {
		return nil, errors.New(`"messages" hold no text; write some, or remove the line`)
	}
	return out, nil
}

func parseTurn(turn map[string]json.RawMessage) (m load.Message, err error) {
	role, content := turn["role"], turn["content"]
	for _, name := range []string{"tool_calls", "function_call", "tool_call_id"} {
		if v, ok := turn[name]; ok && string(v) != "null" && string(v) != "[]" {
			return m, fmt.Errorf("%q cannot be sent; remove the field, or the line", name)
		}
	}
	switch {
	case role == nil:
		return m, fmt.Errorf(`no "role"; write one of %s`, strings.Join(roles, ", "))
	case json.Unmarshal(role, &m.Role) != nil || !slices.Contains(roles, m.Role):
		return m, fmt.Errorf(`the role %.40s cannot be sent; write one of %s`, role, strings.Join(roles, ", "))
	case content == nil:
		return m, errors.New(`no "content"; write the text as one string`)
	case content[0] != '"' || json.Unmarshal(content, &m.Content) != nil:
		return m, fmt.Errorf(`"content" is %s; write the text as one string`, kind(content))
	}
	return m, nil
}

func parseLimit(name string, raw json.RawMessage) (int, error) {
	var n int
	if json.Unmarshal(raw, &n) != nil || n < 1 || n > maxMaxTokens {
		return 0, fmt.Errorf(`%q is %.40s; write a whole number of 1 to %d, or leave it out`, name, raw, maxMaxTokens)
	}
	return n, nil
}

// kind names what a value is.
func kind(raw json.RawMessage) string {
	switch raw[0] {
	case '"':
		return "a string"
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	}
	return "a number"
}
