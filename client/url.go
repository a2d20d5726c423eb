package client

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// parseURL turns what the user gave into the address that a dialect asks. Errors
// never show the text itself when it may hold a password.
func parseURL(raw string, dialect Dialect) (*url.URL, error) {
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
	if other := addressOf(strings.TrimRight(u.Path, "/")); other != "" && other.wire() != dialect.wire() {
		return nil, fmt.Errorf("--url: this is an address of --dialect %s; give that as well, or the base address, e.g. http://HOST[:PORT]/v1", other)
	}
	u.Fragment, u.RawFragment = "", ""
	return withPath(u, dialect.wire().path), nil
}

// addressOf names the dialect whose whole address path is, or none.
func addressOf(path string) Dialect {
	for _, d := range Dialects() {
		base := "/v1/" // the words of the others also stand in prefixes
		if d == Chat || d == Completions {
			base = "/"
		}
		if strings.HasSuffix(path, base+d.wire().path) {
			return d
		}
	}
	return ""
}

// withPath completes the path: a whole address, which ends in that of the endpoint,
// stays, "/v1" is a base, and anything else is a prefix in front of "/v1".
func withPath(u *url.URL, endpoint string) *url.URL {
	path := strings.TrimRight(u.Path, "/")
	switch {
	case strings.HasSuffix(path, "/"+endpoint):
		if path != u.Path {
			u.Path, u.RawPath = path, strings.TrimRight(u.RawPath, "/")
		}
		return u
	case strings.HasSuffix(path, "/v1"):
		return u.JoinPath(endpoint)
	default:
		return u.JoinPath("v1", endpoint)
	}
}
