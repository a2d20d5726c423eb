package client

import (
	"net/http"
	"reflect"
	"testing"
)

// Proxies of the environment are used, unless the caller dials itself.
func TestProxyOfTheEnvironment(t *testing.T) {
	for own, cfg := range map[bool]Config{
		false: {URL: "http://h"},
		true:  {URL: "http://h", Dial: (&server{}).dial},
	} {
		c, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		got := c.transport.Proxy
		if own != (got == nil) || got != nil && reflect.ValueOf(got).Pointer() != reflect.ValueOf(http.ProxyFromEnvironment).Pointer() {
			t.Errorf("dials itself %v: a proxy is looked for: %v", own, got != nil)
		}
	}
}
