package client

import (
	"fmt"
	"net/http"
	"strings"

	"kneesweep/internal/secret"
)

// recorded are the headers of a response that were asked for, "Name: value" each.
func (c *Client) recorded(h http.Header) []string {
	var all []string
	for _, name := range c.cfg.RecordHeaders {
		if values := h.Values(name); len(values) > 0 {
			all = append(all, http.CanonicalHeaderKey(name)+": "+c.shown(strings.Join(values, ", ")))
		}
	}
	return all
}

// checkRecorded refuses headers that hold secrets, and what is no name of one.
func (c Config) checkRecorded() []error {
	var errs []error
	for _, name := range c.RecordHeaders {
		switch {
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' }):
			errs = append(errs, fmt.Errorf("--record-header: %.40q is not a header name; give it alone, e.g. X-Region", name))
		case secret.SensitiveName(name):
			errs = append(errs, fmt.Errorf("--record-header: %.40s holds a secret by its name, and what is recorded is written to files; leave it out", name))
		}
	}
	return errs
}
