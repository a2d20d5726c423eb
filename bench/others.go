package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	openai_ "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	sasha "github.com/sashabaranov/go-openai"
)

// pool is the transport of every other client: ours has its own.
func pool(streams int) *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: streams, DisableCompression: true}}
}

const question = `{"model":"bench-model","stream":true,"messages":[{"role":"user","content":"Count on."}]}`

// saw notes a token-bearing event that was read just now.
func (t task) saw(y *tally, content string) {
	if content == "" {
		return
	}
	at := monotonic()
	y.Events++
	if t.stamps {
		y.errors = append(y.errors, at-sentAt(content))
	}
}

// ordinary is the loop that most programs write: a scanner over the body, and
// encoding/json into a struct of the fields in use.
func ordinary(t task) client {
	c := pool(t.streams)
	return func(ctx context.Context, y *tally) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.base+"/v1/chat/completions", strings.NewReader(question))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := c.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("HTTP %d", resp.StatusCode)
		}
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
			if !ok || string(data) == "[DONE]" {
				continue
			}
			var chunk struct {
				Choices []struct {
					Delta struct {
						Content string `json:"content"`
					} `json:"delta"`
				} `json:"choices"`
			}
			if err := json.Unmarshal(data, &chunk); err != nil {
				return err
			}
			if len(chunk.Choices) > 0 {
				t.saw(y, chunk.Choices[0].Delta.Content)
			}
		}
		return lines.Err()
	}
}

func sashabaranov(t task) client {
	cfg := sasha.DefaultConfig("none")
	cfg.BaseURL, cfg.HTTPClient = t.base+"/v1", pool(t.streams)
	c := sasha.NewClientWithConfig(cfg)
	return func(ctx context.Context, y *tally) error {
		s, err := c.CreateChatCompletionStream(ctx, sasha.ChatCompletionRequest{
			Model: "bench-model", Messages: []sasha.ChatCompletionMessage{{Role: "user", Content: "Count on."}},
		})
		if err != nil {
			return err
		}
		defer s.Close()
		for {
			r, err := s.Recv()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if len(r.Choices) > 0 {
				t.saw(y, r.Choices[0].Delta.Content)
			}
		}
	}
}

func openai(t task) client {
	c := openai_.NewClient(option.WithBaseURL(t.base+"/v1"), option.WithAPIKey("none"), option.WithHTTPClient(pool(t.streams)))
	return func(ctx context.Context, y *tally) error {
		s := c.Chat.Completions.NewStreaming(ctx, openai_.ChatCompletionNewParams{
			Model: "bench-model", Messages: []openai_.ChatCompletionMessageParamUnion{openai_.UserMessage("Count on.")},
		})
		defer s.Close()
		for s.Next() {
			if r := s.Current(); len(r.Choices) > 0 {
				t.saw(y, r.Choices[0].Delta.Content)
			}
		}
		return s.Err()
	}
}
