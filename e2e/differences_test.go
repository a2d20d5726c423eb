//go:build e2e

package e2e

import (
	"slices"
	"testing"
)

func TestDifferences(t *testing.T) {
	tests := []struct {
		name, got, want string
		differ          []string
	}{
		{"the same in another order", `{"a":1,"b":[1,null]}`, `{"b":[1,null],"a":1}`, nil},
		{"a digit", `{"a":[0.1,0.30000000000000004]}`, `{"a":[0.1,0.3]}`, []string{".a[1] = 0.30000000000000004, want 0.3"}},
		{"a field", `{"a":{"b":1}}`, `{"a":{"c":1}}`, []string{".a.c is missing", ".a.b is not wanted"}},
		{"null is not nothing", `{}`, `{"a":null}`, []string{".a is missing"}},
		{"a length", `[1]`, `[1,2]`, []string{" = [1], want [1 2]"}},
		{"a type", `{"a":{}}`, `{"a":[]}`, []string{".a = map[], want []"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got, want any
			decode(t, []byte(tt.got), &got)
			decode(t, []byte(tt.want), &want)
			if d := differences("", got, want); !slices.Equal(d, tt.differ) {
				t.Errorf("differences = %q, want %q", d, tt.differ)
			}
		})
	}
}
