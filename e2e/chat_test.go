//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// chat asks for one answer without streaming, with nothing but the standard
// library, and returns the number of tokens that the server counted.
func chat(ctx context.Context, base, text string, maxTokens int) (int, error) {
	body, err := json.Marshal(map[string]any{
		"model":      model,
		"max_tokens": maxTokens,
		"messages":   []map[string]string{{"role": "user", "content": text}},
	})
	if err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s: %s", resp.Status, lastBytes(answer, 200))
	}
	var got struct {
		Usage struct {
			CompletionTokens int `json:"completion_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		return 0, fmt.Errorf("answer %s: %w", lastBytes(answer, 200), err)
	}
	return got.Usage.CompletionTokens, nil
}

// checkServer tells trouble of the server from trouble of kneesweep: twice as
// many requests as there are slots, and each answer as long as it was asked for.
func checkServer(ctx context.Context, t *testing.T, base string) {
	t.Helper()
	const tokens = 100
	errs := make(chan error)
	for i := range 2 * slots {
		go func() {
			n, err := chat(ctx, base, fmt.Sprintf("Tell me story number %d.", i), tokens)
			if err == nil && n != tokens {
				err = fmt.Errorf("an answer of %d tokens, %d were asked for", n, tokens)
			}
			errs <- err
		}()
	}
	for range 2 * slots {
		if err := <-errs; err != nil {
			t.Errorf("the server by itself: %v", err)
		}
	}
}
