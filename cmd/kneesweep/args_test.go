package main

import (
	"net/http"
	"testing"
)

// The value of a header may hold commas; a repeatable flag is repeated.
func TestHeaderValuesKeepTheirCommas(t *testing.T) {
	got := make(chan http.Header, 1)
	url := endpoint(t, func(next served) served {
		return func(w http.ResponseWriter, r *http.Request) {
			select {
			case got <- r.Header:
			default:
			}
			next(w, r)
		}
	})
	r := command("ping", "--url", url, "--model", "sim", "--header", "X-List: a, b:c", "--header", "X-Other: d")
	if r.code != 0 {
		t.Fatal(r.err)
	}
	h := <-got
	if h.Get("X-List") != "a, b:c" || h.Get("X-Other") != "d" || h.Get("B") != "" {
		t.Errorf("headers %v", h)
	}
}
