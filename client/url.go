package client

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const chatPath = "/chat/completions"

// parseURL turns what the user gave into the address of chat completions. Errors
// never show the text itself when it may hold a password.
func parseURL(raw string) (*url.URL, error) {
	raw = strings.TrimSpace(raw)
	if raw == "" {
		return nil, errors.New("--url: missing; give the base address, e.g. http://127.0.0.1:8000/v1")
	}
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("--url: not an address; want http://HOST[:PORT][/v1], with special characters in a password written as %XX")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("--url: scheme %.40q is not http or https; give http://HOST[:PORT][/v1], or the same with https", u.Scheme)
	case u.Hostname() == "":
		return nil, errors.New("--url: no host; want http://HOST[:PORT][/v1]")
	}
	if path := strings.TrimRight(u.Path, "/"); strings.HasSuffix(path, "/completions") && !strings.HasSuffix(path, chatPath) {
		return nil, errors.New("--url: this is the address of text completions, which are not measured; give the base address, e.g. http://HOST[:PORT]/v1, and chat completions are asked")
	}
	u.Fragment, u.RawFragment = "", ""
	return withPath(u), nil
}

// withPath completes the path: a whole address stays, "/v1" is a base, and
// anything else is a prefix in front of "/v1".
func withPath(u *url.URL) *url.URL {
	path := strings.TrimRight(u.Path, "/")
	switch {
	case strings.HasSuffix(path, chatPath):
		if path != u.Path {
			u.Path, u.RawPath = path, strings.TrimRight(u.RawPath, "/")
		}
		return u
	case strings.HasSuffix(path, "/v1"):
		return u.JoinPath("chat", "completions")
	default:
		return u.JoinPath("v1", "chat", "completions")
	}
}
