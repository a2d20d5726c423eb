package config

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

const reference = "${"

// variable is how a secret names an environment variable.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Expand returns the values with every ${NAME} replaced by what lookup says of NAME,
// and what was put in: the secrets of the setting. A variable that is unset or empty
// is an error, which names it. What a variable holds is not expanded again.
func (s Setting) Expand(lookup func(name string) string) (values, secrets []string, err error) {
	if !s.Key.Secret {
		return s.Values, nil, nil
	}
	var errs []error
	for _, v := range s.Values {
		values = append(values, variable.ReplaceAllStringFunc(v, func(ref string) string {
			name := ref[len(reference) : len(ref)-1]
			value := lookup(name)
			if value == "" {
				errs = append(errs, fmt.Errorf("%s: %s: the environment variable %s is unset or empty", s.At, s.Key.Name, name))
			}
			secrets = append(secrets, value)
			return value
		}))
	}
	return values, secrets, errors.Join(errs...)
}

// misplaced says what is wrong with the ${…} in a value, or "".
func (p *parser) misplaced(key Key, value string) string {
	switch {
	case !strings.Contains(value, reference):
		return ""
	case !key.Secret:
		return "${…} is for secrets only (" + strings.Join(p.secretKeys(), ", ") + "); write the value itself"
	case strings.Contains(variable.ReplaceAllLiteralString(value, ""), reference):
		return "${ without the name of an environment variable; write ${NAME}"
	}
	return ""
}

func (p *parser) secretKeys() []string {
	var names []string
	for _, k := range p.keys {
		if k.Secret {
			names = append(names, k.Name)
		}
	}
	return names
}
