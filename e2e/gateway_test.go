//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"
)

const gatewayVersion = "1.15.2" // of @portkey-ai/gateway

// gatewayPackage pins the gateway, and the web server that its streams work with.
const gatewayPackage = `{"private":true,"dependencies":{"@portkey-ai/gateway":"` + gatewayVersion + `"},"overrides":{"@hono/node-server":"1.13.7"}}
`

// loopback keeps the gateway off all other interfaces, for which it has no option.
const loopback = `const { Server } = require("node:net");
const listen = Server.prototype.listen;
Server.prototype.listen = function (...args) {
  if (typeof args[0] === "number") args.splice(1, typeof args[1] === "string" ? 1 : 0, "127.0.0.1");
  else if (args[0] && typeof args[0] === "object" && "port" in args[0]) args[0] = { ...args[0], host: "127.0.0.1" };
  return listen.apply(this, args);
};
`

// startGateway starts a gateway that is ended with the test, and returns its base
// address.
func startGateway(ctx context.Context, t *testing.T) string {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Fatal("npm is needed for the gateway: apt-get install npm")
	}
	home := t.TempDir()
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	dir := filepath.Join(cacheDir(t), "gateway-"+gatewayVersion)
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		installing, err := os.MkdirTemp(filepath.Dir(dir), "installing-") // moved into place when whole
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(installing)
		err = errors.Join(os.WriteFile(filepath.Join(installing, "package.json"), []byte(gatewayPackage), 0o600),
			os.WriteFile(filepath.Join(installing, "loopback.cjs"), []byte(loopback), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		run(ctx, t, installing, append(os.Environ(), "HOME="+home), npm, "install", "--no-audit", "--no-fund", "--omit=dev", "--ignore-scripts")
		if err := os.Rename(installing, dir); err != nil {
			t.Fatal(err)
		}
	}
	address := freeAddress(t)
	_, port, _ := strings.Cut(address, ":")
	log, _ := startGroup(ctx, t, home, env, "node", "--require", filepath.Join(dir, "loopback.cjs"),
		filepath.Join(dir, "node_modules", "@portkey-ai", "gateway", "build", "start-server.js"), "--headless", "--port="+port)
	waitFor(ctx, t, "the gateway", log, func(ctx context.Context) error { return get(ctx, "http://"+address+"/") })
	return "http://" + address + "/v1"
}

// gateway speaks two dialects, streaming and not, to the server and through the
// gateway: no request fails, every count is the server's, and the answer is the
// model's. What the gateway adds is printed, not judged: the machine is shared.
func (k kneesweep) gateway(ctx context.Context, t *testing.T, s *server) {
	direct := []string{"--url", s.base()}
	through := []string{"--url", startGateway(ctx, t), "--header", "x-portkey-provider: openai", "--header", "x-portkey-custom-host: " + s.base(), "--header", "Authorization: Bearer none"}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(w, "dialect\tstreaming\tTTFT p50 ms\tthrough the gateway\tE2E p50 ms\tthrough the gateway\t\n")
	for _, dialect := range []string{"chat", "completions"} {
		for _, stream := range []bool{true, false} {
			var steps []step
			for i, target := range [][]string{direct, through} {
				args := slices.Concat([]string{"--model", model, "--dialect", dialect, "--levels", "1", "--requests", "15", "--passes", "1", "--warmup", "2", "--output-tokens", "100"}, target)
				if !stream {
					args = append(args, "--no-stream")
				}
				c := k.measure(t, args...)
				if len(c.Steps) != 1 {
					t.Fatalf("%d steps, want 1", len(c.Steps))
				}
				st := c.Steps[0]
				if st.Failed != 0 || st.Finished == 0 || !strings.HasPrefix(st.TokenSource, "server") || st.Models[model] == 0 || (st.TTFT.P50 != nil) != stream || st.E2E.P50 == nil {
					t.Errorf("%s, streaming %v, %s: %+v", dialect, stream, []string{"direct", "through the gateway"}[i], st)
				}
				steps = append(steps, st)
			}
			fmt.Fprintf(w, "%s\t%v\t%s\t%s\t%s\t%s\t\n", dialect, stream, ms(steps[0].TTFT.P50), ms(steps[1].TTFT.P50), ms(steps[0].E2E.P50), ms(steps[1].E2E.P50))
		}
	}
	w.Flush()
	t.Logf("one stream, 100 tokens\n%s", table.String())
}

// otherSlots finds the admission limit of servers with other numbers of slots.
func (k kneesweep) otherSlots(ctx context.Context, t *testing.T) {
	for _, c := range []struct {
		slots  int
		levels string
	}{{2, "1,2,4,8"}, {8, "4,8,12,16"}} {
		s := startServerWith(ctx, t, c.slots)
		began := time.Now()
		found := k.measure(t, "--url", s.base(), "--model", model, "--levels", c.levels, "--passes", "1", "--measurements", "5", "--window", "1s")
		t.Logf("%d slots, %.0f s%s", c.slots, time.Since(began).Seconds(), found.table())
		for _, st := range found.Steps {
			if st.Concurrency > c.slots && fmt.Sprint(st.DecodeConcurrency["mode"]) != fmt.Sprint(c.slots) {
				t.Errorf("%v of %d streams decode at once, want %d", st.DecodeConcurrency["mode"], st.Concurrency, c.slots)
			}
		}
		checkLimit(t, found, c.slots)
		s.kill()
	}
}
