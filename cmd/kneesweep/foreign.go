package main

import (
	"strings"
	"unicode"

	"kneesweep/analysis"
	"kneesweep/load"
)

// tame takes what could steer a terminal out of the texts of a file that may
// come from elsewhere.
func tame(c *analysis.Curve) {
	r := &c.Run
	for _, s := range []*string{&r.ID, &r.Tool, &r.Target, &r.Model, &r.Label, &r.DatasetHash, &r.StopReason,
		&r.Request.Dialect, &r.Request.Cache, &r.Request.Source, &r.Request.Extra, &r.Request.InputLengths.Asked, &r.Request.OutputLengths.Asked, &r.Settings.SLO, &c.Recommended.Reason} {
		*s = plain(*s)
	}
	if c.At != nil {
		c.At.Why = plain(c.At.Why)
	}
	if p := r.Preflight; p != nil {
		p.Cause, p.Error = load.Cause(plain(string(p.Cause))), plain(p.Error)
	}
	tameWarnings(c.Warnings)
	tameWarnings(c.Knee.Warnings)
	for i := range c.Steps {
		s := &c.Steps[i]
		s.InvalidReason, s.SLO.V.Text = plain(s.InvalidReason), plain(s.SLO.V.Text)
		tameWarnings(s.Warnings)
		s.Failures, s.Models, s.Fingerprints, s.Headers = plainKeys(s.Failures), plainKeys(s.Models), plainKeys(s.Fingerprints), plainKeys(s.Headers)
	}
	for i := range c.Estimates {
		c.Estimates[i].Note = plain(c.Estimates[i].Note)
	}
	if c.Cause != nil {
		for i, e := range c.Cause.Evidence {
			c.Cause.Evidence[i] = plain(e)
		}
	}
}

func tameWarnings(list []load.Warning) {
	for i := range list {
		list[i].Text = plain(list[i].Text)
	}
}

func plainKeys(m map[string]int) map[string]int {
	for k, v := range m {
		if p := plain(k); p != k {
			delete(m, k)
			m[p] += v
		}
	}
	return m
}

func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return '\ufffd'
		}
		return r
	}, s)
}
