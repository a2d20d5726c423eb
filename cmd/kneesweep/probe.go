package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/urfave/cli/v2"

	"kneesweep/client/probe"
	"kneesweep/load"
)

const (
	metricsAuto = "auto"
	metricsOff  = "off"
)

func metricsFlag(category string) cli.Flag {
	return &cli.StringFlag{Category: category, Name: "metrics", Value: metricsAuto,
		Usage: "`ADDRESS` of the server's own Prometheus metrics (vLLM, SGLang, TGI, llama.cpp); auto: /metrics of the same host, if it has any; off: not asked"}
}

// checkMetrics wants auto, off or an address.
func checkMetrics(s string) error {
	if s == metricsAuto || s == metricsOff {
		return nil
	}
	u, err := url.Parse(s)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("--metrics: give auto, off, or an address such as http://host:8000/metrics")
	case u.User != nil || u.RawQuery != "":
		return errors.New("--metrics: give the address without user, password and query: they would be shown with the settings")
	}
	return nil
}

// probe returns what asks the server how it is; nil if there is nothing to ask. An
// address that was given and does not answer is worth a hint, a guess is not.
func (t *target) probe(c *cli.Context, endpoint string) func(context.Context) (load.Server, error) {
	address := c.String("metrics")
	if address == metricsOff {
		return nil
	}
	guess := address == metricsAuto
	if guess {
		var err error
		if address, err = probe.Address(endpoint); err != nil {
			return nil
		}
	}
	p := probe.New(address, &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: t.config.TLS}, t.config.Epoch)
	if _, err := p.Read(c.Context); err != nil {
		if !guess {
			fmt.Fprintf(c.App.ErrWriter, "hint: --metrics: no figures of the server itself (%v)\n", err)
		}
		return nil
	}
	return p.Read
}
