// Package secret removes known secrets from text before it is written anywhere.
// It goes by value and not by pattern: what was given as a secret is masked in
// every form in which a server may send it back, and nothing else is touched.
package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"sort"
	"strings"
)

// Mask is what stands in place of a secret.
const Mask = "***"

// shortest is the least length, in bytes, of a value that is masked wherever it
// occurs. Shorter ones would garble ordinary text, so they are masked only where
// they stand alone.
const shortest = 4

// Masker masks a fixed set of values. The zero Masker and a nil one mask nothing.
// It is safe for concurrent use.
type Masker struct {
	long  *strings.Replacer
	short []string
}

// NewMasker returns a Masker of the values; empty ones are ignored. Each is masked
// as it is and in its URL-escaped, JSON-escaped and base64 forms.
func NewMasker(values ...string) *Masker {
	seen := map[string]bool{}
	var long []string
	m := &Masker{}
	for _, v := range values {
		v = strings.TrimSpace(v)
		if v == "" || seen[v] {
			continue
		}
		if len(v) < shortest {
			seen[v] = true
			m.short = append(m.short, v)
			continue
		}
		for _, f := range forms(v) {
			if !seen[f] {
				seen[f] = true
				long = append(long, f)
			}
		}
	}
	// A Replacer prefers the earlier pair: the longest must come first.
	sort.SliceStable(long, func(i, j int) bool { return len(long[i]) > len(long[j]) })
	var pairs []string
	for _, f := range long {
		pairs = append(pairs, f, Mask)
	}
	m.long = strings.NewReplacer(pairs...)
	return m
}

// forms lists the ways in which v may be written.
func forms(v string) []string {
	query, path := url.QueryEscape(v), url.PathEscape(v)
	out := []string{
		v, query, path, lowerEscapes(query), lowerEscapes(path),
		base64.StdEncoding.EncodeToString([]byte(v)),
		base64.RawStdEncoding.EncodeToString([]byte(v)),
		base64.URLEncoding.EncodeToString([]byte(v)),
		base64.RawURLEncoding.EncodeToString([]byte(v)),
		strings.ReplaceAll(v, "/", `\/`),
	}
	if b, err := json.Marshal(v); err == nil {
		out = append(out, string(b[1:len(b)-1]))
	}
	return out
}

// lowerEscapes writes %2F as %2f.
func lowerEscapes(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			b[i+1], b[i+2] = lower(b[i+1]), lower(b[i+2])
		}
	}
	return string(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'F' {
		return c + 'a' - 'A'
	}
	return c
}

// Mask returns s with every known secret replaced.
func (m *Masker) Mask(s string) string {
	if m == nil || m.long == nil {
		return s
	}
	s = m.long.Replace(s)
	for _, v := range m.short {
		s = maskAlone(s, v)
	}
	return s
}

// maskAlone masks v where it is not a part of a longer word.
func maskAlone(s, v string) string {
	var b strings.Builder
	kept := 0
	for i := 0; i+len(v) <= len(s); {
		end := i + len(v)
		if s[i:end] != v || i > 0 && wordByte(s[i-1]) || end < len(s) && wordByte(s[end]) {
			i++
			continue
		}
		b.WriteString(s[kept:i])
		b.WriteString(Mask)
		i, kept = end, end
	}
	return b.String() + s[kept:]
}

func wordByte(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// sensitive matches the names of headers and query values that hold secrets. It
// wants whole words: "api-key" and "x_auth_token", but not "sort_key".
var sensitive = regexp.MustCompile(`(?i)^(.*[-_])?(authorization|auth|api[-_]?key|apikey|subscription[-_]key|access[-_]?key|key|token|access[-_]?token|secret|client[-_]?secret|password|passwd|pwd|cookie|signature|sig|credential|credentials)$`)

var harmless = map[string]bool{"sort_key": true, "sort-key": true, "idempotency-key": true, "partition_key": true, "partition-key": true}

// SensitiveName reports whether a header or a query parameter of this name holds a
// secret.
func SensitiveName(name string) bool {
	return !harmless[strings.ToLower(name)] && sensitive.MatchString(name)
}

// FromHeader lists the secrets of h: the values of headers with a sensitive name,
// whole and without their scheme ("Bearer "), what a basic authorization holds, and
// the values inside cookies and the parameters of an authorization.
func FromHeader(h http.Header) []string {
	var out []string
	for name, values := range h {
		if !SensitiveName(name) {
			continue
		}
		for _, v := range values {
			out = append(out, v)
			out = append(out, parts(name, v)...)
			scheme, rest, ok := strings.Cut(v, " ")
			if !ok {
				continue
			}
			out = append(out, rest)
			if !strings.EqualFold(scheme, "basic") {
				continue
			}
			if plain, err := base64.StdEncoding.DecodeString(rest); err == nil {
				_, password, _ := strings.Cut(string(plain), ":")
				out = append(out, string(plain), password)
			}
		}
	}
	return out
}

// parameter matches key=value and key="value" in an authorization.
var parameter = regexp.MustCompile(`([^\s,;="]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]+))`)

// protocolWords are parameters of an authorization that hold words of the protocol
// ("auth", "host"); to mask those would garble ordinary text.
var protocolWords = map[string]bool{"qop": true, "algorithm": true, "signedheaders": true}

// parts lists the values inside the value v of the header name. Short ones are
// flags and counters, and are left out.
func parts(name, v string) []string {
	var out []string
	add := func(value string) {
		if len(value) >= shortest {
			out = append(out, value)
		}
	}
	switch strings.ToLower(name) {
	case "cookie":
		for pair := range strings.SplitSeq(v, ";") {
			_, value, _ := strings.Cut(pair, "=")
			add(strings.Trim(strings.TrimSpace(value), `"`))
		}
	case "authorization", "proxy-authorization":
		for _, m := range parameter.FindAllStringSubmatch(v, -1) {
			if protocolWords[strings.ToLower(m[1])] {
				continue
			}
			add(m[2])
			add(m[3])
			if strings.Contains(m[2], `\`) {
				add(unquoted.ReplaceAllString(m[2], "$1"))
			}
		}
	}
	return out
}

// unquoted matches an escaped character in a quoted value.
var unquoted = regexp.MustCompile(`\\(.)`)

// FromURL lists the secrets of u: its user information and the values of query
// parameters with a sensitive name.
func FromURL(u *url.URL) []string {
	var out []string
	if u.User != nil {
		name := u.User.Username()
		password, ok := u.User.Password()
		if ok {
			out = append(out, password, name+":"+password)
		} else {
			out = append(out, name, name+":")
		}
	}
	for name, values := range u.Query() {
		if SensitiveName(name) {
			out = append(out, values...)
		}
	}
	return out
}

// FromJSON lists the secrets of a JSON value: the texts below fields with a sensitive
// name, except short ones, which are settings. What is no JSON has none.
func FromJSON(text []byte) []string {
	var v any
	if json.Unmarshal(text, &v) != nil {
		return nil
	}
	return below(v, false)
}

func below(v any, sensitive bool) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		for name, inner := range v {
			out = append(out, below(inner, sensitive || SensitiveName(name))...)
		}
	case []any:
		for _, inner := range v {
			out = append(out, below(inner, sensitive)...)
		}
	case string:
		if sensitive && len(v) >= shortest {
			out = append(out, v)
		}
	}
	return out
}

// ShownURL writes u without user information and with the values of sensitive
// query parameters masked.
func ShownURL(u *url.URL) string {
	shown := *u
	shown.User = nil
	shown.Fragment, shown.RawFragment = "", ""
	if shown.RawQuery != "" {
		parts := strings.Split(shown.RawQuery, "&")
		for i, part := range parts {
			name, _, ok := strings.Cut(part, "=")
			plain, err := url.QueryUnescape(name)
			if ok && (err != nil || SensitiveName(plain)) {
				parts[i] = name + "=" + Mask
			}
		}
		shown.RawQuery = strings.Join(parts, "&")
	}
	return shown.String()
}
