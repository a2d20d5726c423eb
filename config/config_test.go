package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// known are keys of every kind and shape.
var known = []Key{
	{Name: "levels", List: true}, {Name: "label"}, {Name: "json", Kind: Bool}, {Name: "warmup", Kind: Int}, {Name: "seed", Kind: Uint},
	{Name: "share", Kind: Number}, {Name: "window", Kind: Duration}, {Name: "api-key", Secret: true},
	{Name: "header", List: true, Map: true, Secret: true},
}

// TestParse reads every kind of value in every way to write it.
func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""}, {"# nothing\n", ""}, {"---\n", ""}, {"~", ""}, {"{}", ""}, {"\ufefflabel: a", "label=a@1"}, {"label: a\r\nseed: 1\r\n", "label=a@1 seed=1@2"},
		{"levels: 1,2,4,8", "levels=1,2,4,8@1"}, {"levels: 50:100:10", "levels=50:100:10@1"}, {"levels: 8", "levels=8@1"},
		{"levels: [1, 2, '4:8:x2']", "levels=1|2|4:8:x2@1"}, {"\nlevels:\n- 1\n- 2\n", "levels=1|2@2"},
		{"label: 2026-11-30", "label=2026-11-30@1"}, {"label: 1.10", "label=1.10@1"}, {"label: 'true'", "label=true@1"}, {`label: ""`, "label=@1"},
		{"json: true\nseed: 18446744073709551615", "json=true@1 seed=18446744073709551615@2"},
		{"warmup: -1", "warmup=-1@1"}, {"warmup: 2_000_000", "warmup=2_000_000@1"}, {"share: .5", "share=.5@1"}, {"share: 1", "share=1@1"},
		{"window: 300ms", "window=300ms@1"}, {"window: '1m30s'", "window=1m30s@1"}, {"window: 0", "window=0@1"},
		{"api-key: ${A}${B_1} $C", "api-key=${A}${B_1} $C@1"},
		{"header: 'K: a: ${V}'", "header=K: a: ${V}@1"}, {"header: ['K: 1', 'L: 2']", "header=K: 1|L: 2@1"}, {"header:\n  K: ${V}\n  L: 2", "header=K: ${V}|L: 2@1"},
		{"label: a\n...\n", "label=a@1"},
	} {
		got, err := Parse("f.yaml", []byte(c.text), known)
		var b []string
		for _, s := range got {
			b = append(b, s.Key.Name+"="+strings.Join(s.Values, "|")+strings.Replace(s.At, "f.yaml:", "@", 1))
		}
		if strings.Join(b, " ") != c.want || err != nil {
			t.Errorf("%q: got %q, %v; want %q", c.text, b, err, c.want)
		}
	}
}

// TestProblems wants a line for each thing that is wrong, with its place in the file,
// and no part of a secret.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: 1", "f.yaml:1: a: no such key; a key is the name of a flag, without dashes"},
		{"\nlevel: 1", "f.yaml:2: level: no such key; levels?"},
		{"apikey: s3cr3t", "f.yaml:1: apikey: no such key; api-key?"},
		{"API_KEY: s3cr3t", "f.yaml:1: API_KEY: no such key; api-key?"},
		{"--seed: 1", "f.yaml:1: --seed: no such key; seed?"},
		{"{api-key:s3cr3t, seed: 1}", "f.yaml:1: no such key; write KEY: VALUE, with a space after the colon"},
		{"? [label]\n: 1", "f.yaml:1: no such key; write KEY: VALUE"},
		{"seed: 1\nlabel: a\nseed: 1", "f.yaml:3: seed: given already in line 1"},
		{"label:", "f.yaml:1: label: no value, want a text"},
		{"header:", "f.yaml:1: header: no value, want a text, a list, or a map of names and values"},
		{"label: true", `f.yaml:1: label: "true" without quotes is not a text`},
		{"label: [a]", "f.yaml:1: label: a list is not a text"},
		{"levels: {a: 1}", "f.yaml:1: levels: a map is not a text or a list"},
		{"levels: []", "f.yaml:1: levels: holds nothing"},
		{"header: {}", "f.yaml:1: header: holds nothing"},
		{"levels:\n- 1\n- [2]", "f.yaml:3: levels: an item is not a text"},
		{"levels: [1, ]\nlabel: [", "f.yaml:2: not YAML: a value is missing"},
		{"levels: [1, ~]", "f.yaml:1: levels: no value, want a text"},
		{"json: yes", `f.yaml:1: json: "yes" is not true or false`},
		{"json: 'true'", `f.yaml:1: json: "true" in quotes is a text, not true or false`},
		{"warmup: 1.5", `f.yaml:1: warmup: "1.5" is not a whole number`},
		{"warmup: 99999999999999999999", `f.yaml:1: warmup: "99999999999999999999" is not a whole number`},
		{`warmup: "5"`, `f.yaml:1: warmup: "5" in quotes is a text, not a whole number`},
		{"seed: -1", `f.yaml:1: seed: "-1" is not a whole number of at least 0`},
		{"share: half", `f.yaml:1: share: "half" is not a number`},
		{"window: 5", `f.yaml:1: window: "5" is not a duration such as 500ms, 30s or 5m`},
		{"label: ${HOME}", "f.yaml:1: label: ${…} is for secrets only (api-key, header); write the value itself"},
		{"levels:\n- 1\n- ${N}", "f.yaml:3: levels: ${…} is for secrets only"},
		{"api-key: ${}", "f.yaml:1: api-key: ${ without the name of an environment variable; write ${NAME}"},
		{"api-key: s3cr3t${A-s3cr3t}", "f.yaml:1: api-key: ${ without the name"},
		{"header: '${N}: v'", "f.yaml:1: header: ${…} in the name"},
		{"header: ['K: v', '${N}: v']", "f.yaml:1: header: ${…} in the name"},
		{"header:\n  ${N}: v", "f.yaml:2: header: ${…} in the name"},
		{"header:\n  K: s3cr3t\n  k: s3cr3t", "f.yaml:3: header: number 2 has the name of line 2"},
		{"header:\n  K: true", "f.yaml:2: header: the value without quotes is not a text"},
		{"header:\n  K:", "f.yaml:2: header: no value, want a text"},
		{"header:\n  'K: s3cr3t': v", "f.yaml:2: header: number 1 has no name"},
		{"header: {K: [s3cr3t]}", "f.yaml:1: header: an item is not a text"},
		{"api-key: [s3cr3t]", "f.yaml:1: api-key: a list is not a text"},
		{"api-key: *s3cr3t", "f.yaml:1: not YAML: a value begins with *; put it in quotes"},
		{"api-key: &s3cr3t", "f.yaml:1: api-key: a value begins with ! or &; put it in quotes"},
		{"api-key: !s3cr3t x", "f.yaml:1: api-key: a value begins with ! or &; put it in quotes"},
		{"seed: 1\nlabel: &a [*a]", "f.yaml:2: label: a value begins with ! or &"},
		{"&a\nseed: 1", "f.yaml:1: tags (!) and anchors (&) have no meaning here"},
		{"seed: 1\nlabel: %5", "f.yaml:2: not YAML: a tab, or a value that begins with %"},
		{"seed: 1\n\tlabel: a", "f.yaml:2: not YAML: a tab"},
		{"seed: 1\n  label: a", "f.yaml:2: not YAML: a second colon, or more indentation"},
		{"header: K: s3cr3t", "f.yaml:1: not YAML: a second colon"},
		{"seed: 1\napi-key:s3cr3t\nlabel: a", "f.yaml:2: not YAML: a line without KEY: VALUE"},
		{"seed: 1\napi-key: \"s3cr3t\nlabel: a\njson: true", "f.yaml:2: not YAML: a quote is not closed"},
		{"seed: 1\n\n\nlevels: [1,\n  2\nlabel: a\n", "f.yaml:4: not YAML: a list in [ ] does not end"},
		{`label: "\q"`, "f.yaml:1: not YAML: a backslash in double quotes"},
		{"seed: 1\nlabel: a\x01", "f.yaml:2: not YAML: a control character"},
		{"seed: 1\nlabel: \xff", "f.yaml:2: not UTF-8"},
		{"label: a\n---\nlabel: b", "f.yaml:2: a second YAML document begins"},
		{"label: a\n---\n", "f.yaml:2: a second YAML document begins"},
		{"- s3cr3t", "f.yaml:1: no settings; write a line KEY: VALUE"},
		{"\napi-key:s3cr3t", "f.yaml:2: no settings; write a line KEY: VALUE"},
		{"label: " + strings.Repeat("a", MaxSize), "f.yaml: above 64 KiB"},
	} {
		got, err := Parse("f.yaml", []byte(c.text), known)
		switch {
		case err == nil || got != nil:
			t.Errorf("%.80q: read as %v", c.text, got)
		case !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n"):
			t.Errorf("%.80q: got\n%v\nwant\n%s", c.text, err, c.want)
		case strings.Contains(err.Error(), "s3cr3t"):
			t.Errorf("%.80q: a secret is shown: %v", c.text, err)
		}
	}
}

// TestProblemsAllAtOnce wants them in the order of the file, and not too many.
func TestProblemsAllAtOnce(t *testing.T) {
	var text strings.Builder
	for i := range 14 {
		fmt.Fprintf(&text, "k%d: 1\n", i)
	}
	_, err := Parse("f.yaml", []byte(text.String()), known)
	lines := strings.Split(fmt.Sprint(err), "\n")
	if len(lines) != maxProblems+1 || !strings.HasPrefix(lines[9], "f.yaml:10: k9: ") || lines[10] != "f.yaml: and 4 more" {
		t.Errorf("got %q", lines)
	}
	_, err = Parse("f.yaml", []byte("json: 1\nlevels: [~, {}]\nwindow: x"), known)
	if lines := strings.Split(fmt.Sprint(err), "\n"); len(lines) != 4 {
		t.Errorf("got %q", lines)
	}
}

// TestExpand puts the environment into secrets, and into nothing that comes from it.
func TestExpand(t *testing.T) {
	env := map[string]string{"A": "one", "B": "two ${A}", "EMPTY": ""}
	lookup := func(name string) string { return env[name] }
	s := Setting{Key: Key{Name: "header", Secret: true}, Values: []string{"K: x${A}y${B}", "L: $A"}, At: "f.yaml:7"}
	values, secrets, err := s.Expand(lookup)
	if !slices.Equal(values, []string{"K: xoney" + "two ${A}", "L: $A"}) || !slices.Equal(secrets, []string{"one", "two ${A}"}) || err != nil {
		t.Errorf("got %q, %q, %v", values, secrets, err)
	}
	s.Values = []string{"${EMPTY}${A}", "${NONE}"}
	_, _, err = s.Expand(lookup)
	if want := "f.yaml:7: header: the environment variable EMPTY is unset or empty\nf.yaml:7: header: the environment variable NONE is unset or empty"; fmt.Sprint(err) != want {
		t.Errorf("got %v", err)
	}
	plain := Setting{Key: Key{Name: "label"}, Values: []string{"${A}"}}
	if values, secrets, err := plain.Expand(lookup); values[0] != "${A}" || secrets != nil || err != nil {
		t.Errorf("got %q, %q, %v", values, secrets, err)
	}
}

// FuzzParse wants no panic, a known key and a place for each setting, and the file's
// name at the beginning of every line of an error.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"levels: [1, 2]\nlabel: a\n", "header: {K: ${V}}", "header:\n- 'K: v'\n", "api-key: *a", "a: &a [*a]", "x", "- a", "? a\n: b", "json: true\n---\n",
		"label: |\n  a\n  b\n", "label: \"a\nseed: 1", "\t", "{", "!!map {label: a}", "<<: {label: a}", "%YAML 1.1\n---\nseed: 1\n", "seed: 0x10 # a\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		settings, err := Parse("f.yaml", data, known)
		if err != nil {
			if settings != nil {
				t.Errorf("settings %v beside an error", settings)
			}
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "f.yaml:") {
					t.Errorf("%q", line)
				}
			}
		}
		for _, s := range settings {
			if !slices.Contains(known, s.Key) || len(s.Values) == 0 || !strings.HasPrefix(s.At, "f.yaml:") {
				t.Errorf("%+v", s)
			}
			for _, v := range s.Values {
				if !s.Key.Kind.Reads(v) || !s.Key.Secret && strings.Contains(v, reference) {
					t.Errorf("%s holds %q", s.Key.Name, v)
				}
			}
		}
	})
}
