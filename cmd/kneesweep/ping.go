package main

import (
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"kneesweep/client"
	"kneesweep/load"
	"kneesweep/plots"
	"kneesweep/report"
	"kneesweep/workload"
)

func pingCommand() *cli.Command {
	return &cli.Command{
		Name:   "ping",
		Usage:  "send exactly one request and print its timed sample",
		Flags:  append(targetFlags(), &cli.BoolFlag{Name: "json", Usage: "print one JSON document"}),
		Action: configured(ping),
	}
}

func ping(c *cli.Context) error {
	t, err := newTarget(c, c.App.ErrWriter, 1)
	if err != nil {
		return err
	}
	if t.embedded {
		url, stop, err := startEmbedded(embeddedConfig(t.config.Seed))
		if err != nil {
			return failed(err)
		}
		defer stop()
		t.config.URL = url
	}
	t.config.KeepText = true
	cl, err := client.New(t.config)
	if err != nil {
		return usage(err)
	}
	defer cl.Close()
	p := t.source.Prompt(workload.Key{Concurrency: 1})
	p.ID = 1
	s := cl.Send(c.Context, p)
	if t.insecure {
		s.Warnings = append(s.Warnings, load.Warning{Code: load.WarnInsecure, Text: load.InsecureText})
	}
	if c.Bool("json") {
		err = report.SampleJSON(c.App.Writer, s)
	} else {
		err = writePing(c.App.Writer, cl.Endpoint(), &s)
	}
	if err != nil {
		return failed(err)
	}
	if code, ok := interruptCode(c.Context); ok {
		return exitError{code, nil}
	}
	if s.Failed() {
		return exitError{exitFailed, nil}
	}
	return nil
}

// writePing prints a sample for people.
func writePing(w io.Writer, endpoint string, s *load.Sample) error {
	ms := func(d time.Duration) string { return plots.Number(1000*d.Seconds()) + " ms" }
	maybe := func(d load.Opt[time.Duration]) string {
		if !d.OK {
			return plots.Missing
		}
		return ms(d.V)
	}
	outcome := "ok"
	if s.Failed() {
		outcome = "failed: " + string(s.Cause)
		if s.Error != "" {
			outcome += " – " + s.Error
		}
	}
	connect := plots.Missing
	switch {
	case s.Dialled:
		connect = ms(s.Connect)
	case s.Reused:
		connect = "reused"
	}
	ttft := maybe(s.TTFT())
	if t := s.TTFT(); t.OK && s.Dialled {
		ttft += fmt.Sprintf(" (%s without connecting)", ms(t.V-s.Connect))
	}
	tpot := plots.Missing
	if p := s.TPOT(); p.OK {
		tpot = fmt.Sprintf("%s ms (%s tokens/s)", plots.Number(1000*p.V), plots.Number(1/p.V))
	}
	rows := [][2]string{
		{"endpoint", endpoint}, {"outcome", outcome}, {"status", fmt.Sprint(s.Status)}, {"connect", connect},
		{"TTFT", ttft}, {"TPOT", tpot}, {"E2E", ms(s.E2E())},
		{"output tokens", fmt.Sprintf("%d (%s)", s.OutputTokens, orMissing(string(s.TokenSource)))},
		{"chunks", fmt.Sprint(len(s.Chunks))}, {"finish reason", orMissing(s.FinishReason)},
		{"model", orMissing(s.Model)}, {"protocol", orMissing(s.Protocol)},
	}
	if s.PromptTokens.OK {
		rows = append(rows, [2]string{"prompt tokens", fmt.Sprint(s.PromptTokens.V)})
	}
	for _, warning := range s.Warnings {
		rows = append(rows, [2]string{"warning", warning.Text})
	}
	for _, r := range rows {
		if _, err := fmt.Fprintf(w, "%-14s %s\n", r[0], r[1]); err != nil {
			return err
		}
	}
	return nil
}

func orMissing(s string) string {
	if s == "" {
		return plots.Missing
	}
	return s
}
