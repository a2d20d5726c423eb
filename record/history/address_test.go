package history

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"h.db":      "h.db",
		"./a/../b":  "b",
		"/var/h.db": "/var/h.db",
		"postgres://bob:s3cret@db.example:5433/sweeps?sslmode=require": "postgres://db.example:5433/sweeps",
		"postgresql://db/sweeps?password=s3cret":                       "postgres://db/sweeps",
		"postgres:///sweeps?host=/run/postgresql":                      "postgres:///run/postgresql/sweeps",
	} {
		at, err := ParseAddress(text)
		if err != nil || at.String() != want {
			t.Errorf("%s: %q, want %q: %v", text, at, want, err)
		}
	}
	for _, text := range []string{"", " ", "mysql://bob:s3cret@h/d", "postgres://bob:s3cret/x@h/d", "postgres://bob:s3cret@h:port/d", "a\x00b"} {
		if at, err := ParseAddress(text); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, %v", text, at, err)
		}
	}
}

// TestSecretsOfAddresses: what a URL holds of a password is in no error and no text,
// however it is written.
func TestSecretsOfAddresses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"postgres://bob:s3cret-pw@127.0.0.1:1/x",
		"postgres://bob:s3cret%2Dpw@127.0.0.1:1/x",
		"postgres://127.0.0.1:1/x?user=bob&password=s3cret-pw",
		"postgres://bob:s3cret-pw@127.0.0.1:1/x?sslmode=s3cret-pw",
		"postgres://bob:s3cret-pw@127.0.0.1:1/x?sslrootcert=/s3cret-pw",
		"postgres://bob:s3cret-pw@127.0.0.1:1/x?connect_timeout=s3cret-pw",
	} {
		at, err := ParseAddress(text)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(t.Context(), at, true)
		if err == nil {
			t.Fatalf("%s: opened", text)
		}
		shown := err.Error() + at.String() + fmt.Sprintf("%v %+v %s", at, at, &at)
		for _, leak := range []string{"s3cret", "s3cret-pw", "s3cret%2D"} {
			if strings.Contains(shown, leak) {
				t.Errorf("%s shows %s: %s", text, leak, shown)
			}
		}
	}
}
