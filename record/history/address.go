package history

import (
	"errors"
	"net"
	"net/url"
	"path/filepath"
	"strings"

	"kneesweep/internal/secret"
)

// Address says where a history is: a file, or a PostgreSQL database. Its fields
// are private since a URL may hold a password; String never shows one.
type Address struct {
	file   string
	url    string
	shown  string
	masker *secret.Masker
}

// ParseAddress reads the name of a file or a URL postgres://…. It touches nothing.
// Its error shows nothing of what was given, which may hold a password.
func ParseAddress(text string) (Address, error) {
	scheme, _, isURL := strings.Cut(text, "://")
	switch {
	case strings.TrimSpace(text) == "":
		return Address{}, errors.New("the name is empty; give a file, or postgres://USER@HOST/DATABASE")
	case strings.ContainsRune(text, 0):
		return Address{}, errors.New("the name holds a zero byte")
	case !isURL:
		return Address{file: filepath.Clean(text), shown: filepath.Clean(text)}, nil
	case scheme != "postgres" && scheme != "postgresql":
		return Address{}, errors.New("a URL that does not begin with postgres://; give a file, or postgres://USER@HOST/DATABASE")
	}
	u, err := url.Parse(text)
	if err != nil { // its text shows the URL
		return Address{}, errors.New("not a URL; write the special characters of a password as %40 for @, %2F for /, %25 for %")
	}
	password, _ := u.User.Password()
	secrets := []string{password, u.Query().Get("password"), u.Query().Get("sslpassword")}
	host := u.Host
	if host == "" {
		host = u.Query().Get("host")
	} else if h, port, err := net.SplitHostPort(host); err == nil && port == "" {
		host = h
	}
	return Address{url: text, shown: "postgres://" + host + u.EscapedPath(), masker: secret.NewMasker(append(secrets, rawPassword(text))...)}, nil
}

// rawPassword is a password as it is escaped in a URL.
func rawPassword(text string) string {
	_, rest, _ := strings.Cut(text, "://")
	authority, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return ""
	}
	_, password, _ := strings.Cut(authority[:at], ":")
	return password
}

// String names the place, without user, password and options.
func (a Address) String() string { return a.shown }

// Local reports whether the history is a file.
func (a Address) Local() bool { return a.url == "" }
