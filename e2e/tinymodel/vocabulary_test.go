package tinymodel

import (
	"slices"
	"strings"
	"testing"
)

func TestTrainVocabulary(t *testing.T) {
	tests := []struct {
		name, text string
		size       int
		want       []string // merges
	}{
		{"empty", "", 1000, nil},
		{"one byte", "a", 1000, nil},
		{"no room", "aaaa", smallestVocabulary, nil},
		{"commonest first", "low lower lowest", 1000, []string{"l o", "lo w", "Ġ low", "Ġlow e", "Ġlowe r", "Ġlowe s", "Ġlowes t"}},
		{"ties go to the first", "ab cd", 257 + numControls, []string{"a b"}},
		{"not across words", "a1a1 b", 258 + numControls, []string{"Ġ b"}},
		{"overlapping", "aaa", 1000, []string{"a a", "aa a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := trainVocabulary(tt.text, tt.size)
			if !slices.Equal(v.merges, tt.want) {
				t.Errorf("merges = %q, want %q", v.merges, tt.want)
			}
			if len(v.tokens) > tt.size {
				t.Errorf("%d tokens, at most %d were asked for", len(v.tokens), tt.size)
			}
		})
	}
}

func TestVocabularyOfCorpus(t *testing.T) {
	v := trainVocabulary(corpus, 600)
	if len(v.tokens) != 600 {
		t.Errorf("%d tokens, want 600", len(v.tokens))
	}
	seen := map[string]bool{}
	for _, token := range v.tokens {
		if seen[token] {
			t.Errorf("token %q is there twice", token)
		}
		seen[token] = true
	}
	for _, m := range v.merges {
		if joined := strings.Replace(m, " ", "", 1); !seen[joined] {
			t.Errorf("merge %q makes a token that is not there", m)
		}
	}
	for _, special := range []string{textEnd, turnStart, turnEnd} {
		if id := v.id(special); !v.control(id) || v.types()[id] != typeControl {
			t.Errorf("%s is no control token", special)
		}
	}
}

func TestPrintable(t *testing.T) {
	v := trainVocabulary("the the\n", 1000)
	for token, want := range map[string]bool{
		"a": true, "~": true, "Ġ": true, "Ċ": true, "Ġthe": true,
		"é": false, string(byteRunes[0]): false, string(byteRunes[0x7f]): false, turnEnd: false,
	} {
		id := v.id(token)
		if id < 0 {
			t.Fatalf("token %q is missing", token)
		}
		if got := v.printable(id); got != want {
			t.Errorf("printable(%q) = %v, want %v", token, got, want)
		}
	}
}
