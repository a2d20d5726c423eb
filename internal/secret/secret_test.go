package secret

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestMask(t *testing.T) {
	m := NewMasker("", "sk-abcdef", "pa ss/w+rd", "user:pass-123", "quo\"te", "abc", "sk-abcdef-longer")
	for in, want := range map[string]string{
		"nothing here":               "nothing here",
		"key sk-abcdef.":             "key ***.",
		"sk-abcdef-longer":           "***",
		"pa ss/w+rd":                 "***",
		"pa+ss%2Fw%2Brd":             "***",
		"pa+ss%2fw%2brd":             "***",
		"pa%20ss%2Fw+rd":             "***",
		`pa ss\/w+rd`:                "***",
		"Basic dXNlcjpwYXNzLTEyMw==": "Basic ***",
		`{"x":"quo\"te"}`:            `{"x":"***"}`,
		"abc and abcd, xabc (abc)":   "*** and abcd, xabc (***)",
		"sort_key=abc":               "sort_key=***",
		"abc abc abc":                "*** *** ***",
		"abc,abcabc abc":             "***,abcabc ***",
		"xabcx":                      "xabcx",
		"éabcé":                      "é***é",
	} {
		if got := m.Mask(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	var none *Masker
	if none.Mask("x") != "x" || new(Masker).Mask("x") != "x" || NewMasker().Mask("x") != "x" {
		t.Error("a masker without values changes text")
	}
}

func TestSensitiveName(t *testing.T) {
	for name, want := range map[string]bool{
		"Authorization": true, "Proxy-Authorization": true, "api-key": true, "X-Api-Key": true, "key": true, "access_token": true,
		"X-Amz-Signature": true, "sig": true, "Cookie": true, "Ocp-Apim-Subscription-Key": true, "client_secret": true, "apikey": true,
		"sort_key": false, "Idempotency-Key": false, "max_tokens": false, "Content-Type": false, "monkey": false, "api-version": false, "X-Author": false,
	} {
		if SensitiveName(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestFromHeader(t *testing.T) {
	got := FromHeader(http.Header{"Authorization": {"Basic dXNlcjpwYXNzLTEyMw=="}, "X-Token": {"tok-1"}, "Accept": {"x"}})
	for _, want := range []string{"dXNlcjpwYXNzLTEyMw==", "user:pass-123", "pass-123", "tok-1"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	if slices.Contains(got, "x") {
		t.Errorf("harmless value in %q", got)
	}
}

// What a server picks out of a structured header is masked too.
func TestPartsOfHeaders(t *testing.T) {
	for name, c := range map[string]struct {
		header   http.Header
		in, want string
	}{
		"cookie and token": {
			http.Header{"Cookie": {"a=1; session=XYZSECRET1"}, "Authorization": {`Token token="QQSECRET"`}},
			"your session XYZSECRET1 token QQSECRET", "your session *** token ***",
		},
		"short ones":    {http.Header{"Cookie": {"a=1; b=on"}}, "1 is on", "1 is on"},
		"quoted cookie": {http.Header{"cookie": {`s="COOKIE77"`}}, "session COOKIE77", "session ***"},
		"several parameters": {
			http.Header{"Proxy-Authorization": {`Digest username="bob-7", qop=auth, response=0123abcd,opaque = "op,a=q"`}},
			"bob-7 wants authorization: 0123abcd op,a=q", "*** wants authorization: *** ***",
		},
		"escaped": {http.Header{"Authorization": {`X key="a\"bcde"`}}, `a"bcde and a\"bcde`, "*** and ***"},
	} {
		if got := NewMasker(FromHeader(c.header)...).Mask(c.in); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestURL(t *testing.T) {
	u, err := url.Parse("https://bob:p%40ss@h/v1?api-key=q-1&sort_key=a&%61pi_key=q-2&flag#f")
	if err != nil {
		t.Fatal(err)
	}
	if got := ShownURL(u); got != "https://h/v1?api-key=***&sort_key=a&%61pi_key=***&flag" {
		t.Error(got)
	}
	got := FromURL(u)
	for _, want := range []string{"p@ss", "bob:p@ss", "q-1", "q-2"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
	token, _ := url.Parse("https://tok-only@h/")
	if got := FromURL(token); !slices.Contains(got, "tok-only") {
		t.Error(got)
	}
	if strings.Contains(ShownURL(token), "tok") || u.User == nil {
		t.Error("ShownURL shows or changes")
	}
}

func TestFromJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"api_key":"abcdef","x":"y","n":{"token":"ghijkl","m":[{"password":["mnopqr"]}]}}`: "abcdef ghijkl mnopqr",
		`{"secret":{"a":{"b":"stuvwx"}}}`:                    "stuvwx",
		`{"token":"abc","key":1,"sort_key":"long","a":true}`: "", // short ones are settings
		`{"token":"abcdef"`:                                  "",
		`"abcdef"`:                                           "",
		``:                                                   "",
	} {
		got := FromJSON([]byte(text))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
