// Package probe reads what an inference server says of itself while it is under
// load: the Prometheus text of its /metrics, as vLLM, SGLang, TGI and llama.cpp
// write it.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"kneesweep/load"
)

const (
	maxBody = 16 << 20
	timeout = 2 * time.Second
)

// Prober asks one server. It is safe for concurrent use.
type Prober struct {
	address string
	client  *http.Client
	epoch   time.Time
}

// New returns a Prober of an address. The transport is the caller's; no header and
// no key is sent. Times count from epoch.
func New(address string, transport http.RoundTripper, epoch time.Time) *Prober {
	return &Prober{address: address, client: &http.Client{Transport: transport, Timeout: timeout}, epoch: epoch}
}

// Address returns where the metrics of an endpoint are by custom: /metrics of the
// same host, without the credentials and the query of the endpoint's address.
func Address(endpoint string) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" {
		return "", errors.New("not an address")
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/metrics"}).String(), nil
}

// Read asks once. An error says why there are no figures: no answer within two
// seconds, another content, or no name that is known.
func (p *Prober) Read(ctx context.Context) (load.Server, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.address, http.NoBody)
	if err != nil {
		return load.Server{}, fmt.Errorf("metrics: %w", err)
	}
	req.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	resp, err := p.client.Do(req)
	if err != nil {
		return load.Server{}, fmt.Errorf("metrics: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return load.Server{}, fmt.Errorf("metrics: the server answers %s", resp.Status)
	}
	s, err := Parse(io.LimitReader(resp.Body, maxBody))
	s.At = time.Since(p.epoch)
	return s, err
}

// Parse reads the Prometheus text format. Series of one name are added up (the ranks
// of a server, or the models that it serves), shares are the highest of theirs.
func Parse(r io.Reader) (load.Server, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(r)
	if err != nil && len(families) == 0 {
		return load.Server{}, fmt.Errorf("metrics: not the Prometheus text format: %w", err)
	}
	for _, e := range engines {
		if s, ok := e.read(families); ok {
			return s, nil
		}
	}
	return load.Server{}, errors.New("metrics: none of the names of vLLM, SGLang, TGI or llama.cpp is there")
}
