package peers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// recognise finds the tool that wrote data, nil if none did. A file that was cut
// off is recognised by what is left.
func recognise(data []byte) *tool {
	text := bytes.TrimLeft(data, " \t\r\n")
	switch {
	case bytes.HasPrefix(text, []byte("{")), bytes.HasPrefix(text, []byte("[")):
		if t := byKeys(data); t != nil {
			return t
		}
	case bytes.HasPrefix(text, []byte("Metric,")):
		return &aiperfTable
	}
	if batchedHeader(data) || bytes.Contains(data, []byte(`"speed_tg"`)) {
		return &batchedBench
	}
	return nil
}

// byKeys goes by the keys of the first object.
func byKeys(data []byte) *tool {
	d := json.NewDecoder(bytes.NewReader(data))
	first, err := d.Token()
	if first == json.Delim('[') {
		first, err = d.Token()
	}
	if err != nil || first != json.Delim('{') {
		return nil
	}
	keys := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		if err != nil || !ok {
			break
		}
		if name == "schema" {
			return nil // ours
		}
		keys[name] = true
		if t := signature(keys); t != nil {
			return t
		}
		if skip(d) != nil {
			break
		}
	}
	return fallback(keys)
}

// skip reads over one value.
func skip(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// signature decides as soon as the keys read so far allow it; large lists come later.
func signature(has map[string]bool) *tool {
	switch {
	case has["aggregated_metrics"], has["traffic_scenario"] && has["benchmark_version"]:
		return &genaiBench
	case has["benchmarks"]:
		return &guideLLM
	case has["pl"] && has["speed_tg"]:
		return &batchedBench
	case has["model_id"] && has["max_concurrency"], has["model_id"] && has["output_throughput"]:
		return &vllm
	case has["dataset_name"] && has["max_concurrency"], has["total_output_tokens_retokenized"]:
		return &sglang
	case has["output_token_throughput"], has["aiperf_version"], has["request_throughput"] && has["request_latency"]:
		return &aiperf
	}
	return nil
}

// fallback decides by all keys of an object.
func fallback(has map[string]bool) *tool {
	if has["output_throughput"] && has["total_token_throughput"] {
		return &vllm
	}
	return nil
}

// document is one JSON object of a file.
type document struct {
	raw  json.RawMessage
	line int // where it begins
}

// documents splits data into its objects: a single one, a list, or one after the
// other, as in JSON Lines.
func documents(data []byte) ([]document, error) {
	lineOf := func(offset int64) int {
		return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	var all []document
	for {
		begin := d.InputOffset()
		begin += int64(len(data[begin:]) - len(bytes.TrimLeft(data[begin:], " \t\r\n")))
		var raw json.RawMessage
		err := d.Decode(&raw)
		var syntax *json.SyntaxError
		switch {
		case errors.Is(err, io.EOF):
			return all, nil
		case errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("line %d: the JSON is cut off at byte %d; copy the file again", lineOf(int64(len(data))), len(data))
		case errors.As(err, &syntax):
			return nil, fmt.Errorf("line %d: not JSON at byte %d; copy the file again", lineOf(syntax.Offset-1), syntax.Offset)
		case err != nil:
			return nil, err
		}
		list := []json.RawMessage{raw}
		if raw[0] == '[' {
			if err := json.Unmarshal(raw, &list); err != nil {
				return nil, err
			}
		}
		for _, one := range list {
			if one[0] != '{' {
				return nil, fmt.Errorf("line %d: %.20q where an object is expected; remove it", lineOf(begin), one)
			}
			all = append(all, document{one, lineOf(begin)})
		}
	}
}

// decode reads one object. A field of another kind than the tool writes is an
// error that names it.
func (d document) decode(v any) error {
	err := json.Unmarshal(d.raw, v)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		field := kind.Field
		if field == "" {
			field = "the object"
		}
		value, _, _ := strings.Cut(kind.Value, " ")
		return fmt.Errorf("line %d: %s holds a JSON %s, which is not how the tool writes it; give the file as it was written", d.line, field, value)
	}
	return err
}
