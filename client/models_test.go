package client

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"kneesweep/sim/pipe"
)

// Models asks beside the chat address, with the same key, and masks what comes back.
func TestModels(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := pipe.Listen(pipe.Config{})
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Header.Get("Authorization") != "Bearer sk-secret-key":
				http.Error(w, "no", http.StatusUnauthorized)
			case r.URL.Path == "/a/v1/models" && r.URL.RawQuery == "api-version=1":
				io.WriteString(w, `{"data":[{"id":"small"},{"id":"big sk-secret-key"},{"id":""},{"id":"small"}]}`)
			case r.URL.Path == "/b/v1/models":
				io.WriteString(w, `<html>`)
			default:
				http.NotFound(w, r)
			}
		})}
		go srv.Serve(n)
		defer srv.Close()
		for path, want := range map[string]string{
			"/a/v1/chat/completions?api-version=1": "big *** small",
			"/b/v1":                                "list of models",
			"/c":                                   "HTTP 404",
		} {
			c, err := New(Config{URL: "http://h" + path, APIKey: "sk-secret-key", Dial: n.Dial})
			if err != nil {
				t.Fatal(err)
			}
			names, err := c.Models(t.Context())
			got := strings.Join(names, " ")
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, want) || !slices.IsSorted(names) {
				t.Errorf("%s: %q, want %q", path, got, want)
			}
			c.Close()
			if _, err := c.Models(t.Context()); err == nil {
				t.Error("a closed client answers")
			}
		}
	})
}
