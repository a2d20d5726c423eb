package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kneesweep/analysis/claims"
	"kneesweep/internal/spell"
)

// The keys of a file of claims, in the order in which they are documented.
var (
	claimsKeys    = []string{"tolerance", "assume", "claims"}
	figureKeys    = []string{"tokens-per-second", "ms-per-1000-tokens", "ttft-ms", "speed-up"}
	conditionKeys = []string{"gpus", "streams", "input-tokens", "output-tokens"}
	claimKeys     = slices.Concat([]string{"name"}, figureKeys, []string{"percentile"}, conditionKeys, []string{"tolerance", "hardware", "source"})
)

var kinds = map[string]claims.Kind{
	"tokens-per-second": claims.Throughput, "ms-per-1000-tokens": claims.Stream, "ttft-ms": claims.TTFT, "speed-up": claims.SpeedUp,
}

// ParseClaims reads published figures; file is its name in errors. It is as strict as
// [Parse]: an error joins what is wrong, a line for each as FILE:LINE: KEY: …, ten at
// most.
func ParseClaims(file string, data []byte) (claims.File, error) {
	out := claims.File{Name: file}
	root, err := document(file, data)
	if err != nil {
		return out, err
	}
	r := claimsReader{file: file}
	if root == nil {
		return out, fmt.Errorf("%s:1: claims: there are none; write them as a list under the key claims", file)
	}
	r.each(root, "", claimsKeys, func(key string, n *yaml.Node) {
		switch key {
		case "tolerance":
			out.Tolerance = r.share(key, n)
		case "assume":
			r.each(n, key, conditionKeys, func(key string, n *yaml.Node) { r.condition(&out.Assume, key, n, true) })
		default:
			out.Claims = r.list(n)
		}
	})
	if len(out.Claims) == 0 && len(r.problems) == 0 {
		r.problem(root, "claims: there are none; write them as a list under the key claims")
	}
	if more := len(r.problems) - maxProblems; more > 0 {
		r.problems = append(r.problems[:maxProblems:maxProblems], fmt.Errorf("%s: and %d more", file, more))
	}
	return out, errors.Join(r.problems...)
}

// claimsReader collects what is wrong.
type claimsReader struct {
	file     string
	problems []error
}

func (r *claimsReader) problem(n *yaml.Node, format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf("%s:%d: "+format, append([]any{r.file, n.Line}, args...)...))
}

// each calls f for every key of a map, in its order. Keys that there are not, and
// those given twice, are problems.
func (r *claimsReader) each(n *yaml.Node, of string, keys []string, f func(key string, n *yaml.Node)) {
	if n.Kind != yaml.MappingNode || decorated(n) {
		r.problem(n, "%s: not a map of keys and values; the keys are %s", of, strings.Join(keys, ", "))
		return
	}
	seen := map[string]int{}
	for i := 0; i < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		line, again := seen[name.Value]
		seen[name.Value] = name.Line
		switch {
		case again:
			r.problem(name, "%s: given already in line %d", name.Value, line)
		case decorated(value):
			r.problem(value, "%.40s: a value begins with !, & or *; put it in quotes", name.Value)
		case slices.Contains(keys, name.Value) && name.Kind == yaml.ScalarNode:
			f(name.Value, value)
		default:
			r.unknown(name, keys)
		}
	}
}

// unknown says that there is no such key, and which may be meant.
func (r *claimsReader) unknown(n *yaml.Node, keys []string) {
	meant := strings.ReplaceAll(strings.ToLower(n.Value), "_", "-")
	nearest := slices.MinFunc(keys, func(a, b string) int { return spell.Distance(meant, a) - spell.Distance(meant, b) })
	if spell.Distance(meant, nearest) <= len(meant)/3 {
		r.problem(n, "%.40s: no such key; %s?", n.Value, nearest)
		return
	}
	r.problem(n, "%.40s: no such key; there are %s", n.Value, strings.Join(keys, ", "))
}

// list reads the claims.
func (r *claimsReader) list(n *yaml.Node) []claims.Claim {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.problem(n, "claims: not a list; begin each claim with a dash")
		return nil
	}
	var list []claims.Claim
	for i, item := range n.Content {
		c := claims.Claim{Name: fmt.Sprintf("claim %d", i+1), Line: item.Line}
		before := len(r.problems)
		var figures []string
		percentile := 0
		r.each(item, fmt.Sprintf("claims, number %d", i+1), claimKeys, func(key string, n *yaml.Node) {
			switch {
			case slices.Contains(figureKeys, key):
				figures = append(figures, key)
				c.Kind, c.Value = kinds[key], r.positive(key, n)
			case slices.Contains(conditionKeys, key):
				r.condition(&c.Conditions, key, n, false)
			case key == "percentile":
				percentile = r.percentile(n)
			case key == "tolerance":
				c.Tolerance = r.share(key, n)
			default:
				*map[string]*string{"name": &c.Name, "hardware": &c.Hardware, "source": &c.Source}[key] = r.text(key, n)
			}
		})
		if len(r.problems) == before {
			r.checkClaim(item, &c, figures, percentile)
		}
		list = append(list, c)
	}
	return list
}

// checkClaim holds the keys of a claim against each other.
func (r *claimsReader) checkClaim(n *yaml.Node, c *claims.Claim, figures []string, percentile int) {
	switch {
	case len(figures) == 0:
		r.problem(n, "%s: no figure; give one of %s", c.Name, strings.Join(figureKeys, ", "))
	case len(figures) > 1:
		r.problem(n, "%s: %s and %s; a claim has one figure, so write two", c.Name, figures[0], figures[1])
	case percentile > 0 && c.Kind != claims.TTFT:
		r.problem(n, "%s: percentile: only ttft-ms has one", c.Name)
	case c.Kind == claims.SpeedUp && c.Conditions.GPUs < 2:
		r.problem(n, "%s: speed-up: give gpus, at least 2: how many it is on", c.Name)
	case c.Kind == claims.TTFT:
		c.Percentile = cmp.Or(percentile, 50)
	}
}

// condition reads one condition; any is taken only where it is assumed.
func (r *claimsReader) condition(c *claims.Conditions, key string, n *yaml.Node, assumed bool) {
	field := map[string]*int{"gpus": &c.GPUs, "streams": &c.Streams, "input-tokens": &c.InputTokens, "output-tokens": &c.OutputTokens}[key]
	if assumed && key != "gpus" && n.Kind == yaml.ScalarNode && n.Value == "any" {
		*field = claims.Any
		return
	}
	v, err := strconv.Atoi(strings.ReplaceAll(n.Value, "_", ""))
	if n.Kind != yaml.ScalarNode || err != nil || v < 1 || n.ShortTag() == "!!str" {
		r.problem(n, "%s: %.40q is not a whole number of at least 1", key, n.Value)
		return
	}
	*field = v
}

func (r *claimsReader) positive(key string, n *yaml.Node) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(n.Value, "_", ""), 64)
	if n.Kind != yaml.ScalarNode || err != nil || !(v > 0) || math.IsInf(v, 0) || n.ShortTag() == "!!str" {
		r.problem(n, "%s: %.40q is not a number above 0", key, n.Value)
	}
	return v
}

func (r *claimsReader) percentile(n *yaml.Node) int {
	v, err := strconv.Atoi(n.Value)
	if err != nil || !slices.Contains([]int{50, 90, 95, 99}, v) {
		r.problem(n, "percentile: %.40q is none of 50, 90, 95, 99", n.Value)
	}
	return v
}

// share reads 5% or 0.05.
func (r *claimsReader) share(key string, n *yaml.Node) float64 {
	number, percent := strings.CutSuffix(n.Value, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if n.Kind != yaml.ScalarNode || err != nil || !(v > 0 && v < 1) {
		r.problem(n, "%s: %.40q is not a share above 0 and below 1, such as 5%% or 0.05", key, n.Value)
	}
	return v
}

func (r *claimsReader) text(key string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		r.problem(n, "%s: not a text", key)
	}
	return strings.Join(strings.Fields(n.Value), " ")
}
