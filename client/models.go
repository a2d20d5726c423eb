package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
)

const (
	maxModelList = 1 << 20 // bytes of a list of models that are read
	maxModelName = 200
)

// Models asks the endpoint which models it serves, sorted by name. Endpoints
// need not have such a list; the error says why there is none, without secrets.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	if !c.enter() {
		return nil, errors.New("client is closed")
	}
	defer c.active.Done()
	ctx, cancel := context.WithTimeout(ctx, c.cfg.TimeoutConnect)
	defer cancel()
	defer context.AfterFunc(c.life, cancel)()
	path := "/" + c.cfg.Dialect.wire().path
	req := c.template.Clone(ctx)
	req.Method = http.MethodGet
	req.URL.Path, req.URL.RawPath = strings.TrimSuffix(req.URL.Path, path)+"/models", ""
	req.Header.Del("Content-Type")
	resp, err := c.transport.RoundTrip(req)
	if err != nil {
		return nil, errors.New(c.shown(err.Error()))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s/models: HTTP %d", strings.TrimSuffix(c.Endpoint(), path), resp.StatusCode)
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxModelList)).Decode(&list); err != nil {
		return nil, fmt.Errorf("list of models: %s", c.shown(err.Error()))
	}
	names := make([]string, 0, len(list.Data))
	for _, m := range list.Data {
		if m.ID != "" {
			names = append(names, c.shown(m.ID[:min(len(m.ID), maxModelName)]))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}
