package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"kneesweep/analysis"
	"kneesweep/load"
	"kneesweep/report"
)

// noticeSchema is that of what is posted.
const noticeSchema = "kneesweep/notice/v1"

// notice is what a webhook is told. Fields are added, never renamed.
type notice struct {
	Schema      string            `json:"schema"`
	Sentence    string            `json:"sentence"` // the verdict in words
	Run         string            `json:"run"`
	Started     time.Time         `json:"started"`
	Target      string            `json:"target"`
	Model       string            `json:"model"`
	Label       string            `json:"label"`
	Status      string            `json:"status"`
	Failure     load.Opt[string]  `json:"failure"` // why there is no curve
	Verdict     string            `json:"verdict"`
	Knee        *boundsJSON       `json:"knee"`
	Plateau     load.Opt[float64] `json:"plateau_tokens_per_second"`
	Recommended load.Opt[int]     `json:"recommended"`
	History     *historyVerdict   `json:"history"` // null without --history
}

// formatOf is the format that an address takes.
func formatOf(address string) string {
	if u, err := url.Parse(address); err == nil && strings.EqualFold(u.Hostname(), "hooks.slack.com") {
		return "slack"
	}
	return "json"
}

// message is the body of a post.
func (t telling) message(c analysis.Curve, failure string, past *judged) []byte {
	n := notice{
		Schema: noticeSchema, Sentence: report.Verdict(c), Run: c.Run.ID, Started: c.Run.Started, Target: c.Run.Target, Model: c.Run.Model, Label: c.Run.Label,
		Status: string(c.Run.Status), Failure: load.Opt[string]{V: failure, OK: failure != ""}, Verdict: string(c.Knee.Verdict), Knee: boundsOf(c.Knee.Concurrency),
		Plateau: c.Knee.Plateau, Recommended: c.Recommended.Concurrency,
	}
	if failure != "" {
		n.Sentence = "The sweep has no curve: " + failure
	}
	if past != nil {
		var v verdict
		v.take(*past)
		n.History = v.History
	}
	var body any = n
	if t.format == "slack" {
		body = map[string]string{"text": n.slack()}
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil // a curve holds no value that JSON has not
	}
	return b
}

// slack is the notice as Slack shows text, in which three characters are marks.
func (n notice) slack() string {
	safe := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
	name := n.Target
	for _, s := range []string{n.Model, n.Label} {
		if s != "" {
			name += " · " + s
		}
	}
	text := "*" + safe(name) + "*\n" + safe(n.Sentence)
	if n.History != nil {
		text += "\n" + safe(n.History.Sentence)
	}
	return text
}

const (
	postTries = 3
	postPause = time.Second // before the second try, and twice that before the third
)

// post sends a message, again if it was not taken for a reason that may pass. Its errors
// name the host alone: the path of a webhook is its key.
func post(ctx context.Context, address string, body []byte) error {
	u, err := url.Parse(address)
	if err != nil {
		return errors.New("not an address")
	}
	for try := 1; ; try++ {
		again, err := postOnce(ctx, address, body)
		if err == nil || !again || try == postTries {
			if err != nil {
				err = fmt.Errorf("%s: %w", u.Host, err)
			}
			return err
		}
		select {
		case <-time.After(postPause << (try - 1)):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", u.Host, err)
		}
	}
}

func postOnce(ctx context.Context, address string, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return false, errors.New("not an address")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "kneesweep/"+version())
	resp, err := teller.Do(req)
	if err != nil {
		var wrong *url.Error
		if errors.As(err, &wrong) { // it holds the address
			err = wrong.Err
		}
		return ctx.Err() == nil, err
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	switch {
	case resp.StatusCode/100 == 2:
		return false, nil
	case resp.StatusCode/100 == 3:
		return false, fmt.Errorf("HTTP %d: it redirects, which is not followed", resp.StatusCode)
	}
	return resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500, fmt.Errorf("HTTP %d", resp.StatusCode)
}
