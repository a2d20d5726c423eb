package main

import (
	"crypto/tls"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kneesweep/client"
)

// TestSweepInEveryDialect asks the simulated endpoint as it is served to anybody.
func TestSweepInEveryDialect(t *testing.T) {
	t.Parallel()
	for dialect, want := range map[client.Dialect]struct{ address, fields, finish string }{
		client.Chat:        {"/v1/chat/completions", "max_tokens messages model stream stream_options", "length"},
		client.Completions: {"/v1/completions", "max_tokens model prompt stream stream_options", "length"},
		client.Responses:   {"/v1/responses", "input max_output_tokens model stream", "max_output_tokens"},
		client.Anthropic:   {"/v1/messages", "max_tokens messages model stream", "max_tokens"},
	} {
		t.Run(string(dialect), func(t *testing.T) {
			t.Parallel()
			var got asked
			url := endpoint(t, got.keep(func([]string) served { return nil }))
			to := []string{"--url", url, "--model", "sim", "--dialect", string(dialect)}
			r := command(append([]string{"ping", "--json", "--output-tokens", "3"}, to...)...)
			checkAnswer(t, r, want.finish, 3.0)
			r = command(append([]string{"ping", "--json", "--output-tokens", "3", "--no-stream"}, to...)...)
			checkAnswer(t, r, want.finish, 0.0)

			r = command(quick(append(to, "--json", "--ignore-eos", "--min-tokens", "8", "--body", `{"temperature":0}`, "--out", filepath.Join(t.TempDir(), "run"))...)...)
			if !swept(r) {
				t.Fatalf("exit %d: %s", r.code, r.err)
			}
			doc := object(t, r.out)
			if d, extra := at(t, doc, "run.request.dialect"), at(t, doc, "run.request.extra"); d != string(dialect) || extra != `{"ignore_eos":true,"min_tokens":8,"temperature":0}` || at(t, doc, "run.request.insecure") != false {
				t.Errorf("dialect %v, extra %v", d, extra)
			}
			for _, step := range doc["steps"].([]any) {
				if source, _ := at(t, step, "token_source").(string); !strings.HasPrefix(source, "server") || at(t, step, "output_length_mean") != 8.0 {
					t.Errorf("%v tokens from %v", at(t, step, "output_length_mean"), source)
				}
			}
			calls := got.all()
			if len(calls) < 20 || calls[0].address != want.address || strings.Join(calls[0].fields, " ") != want.fields {
				t.Errorf("%d requests, the first %+v, want %+v", len(calls), calls[0], want)
			}
			swept := append(strings.Fields(want.fields), "ignore_eos", "min_tokens", "temperature")
			slices.Sort(swept)
			if last := calls[len(calls)-1]; !slices.Equal(last.fields, swept) {
				t.Errorf("sent %v, want %v", last.fields, swept)
			}
		})
	}
}

func checkAnswer(t *testing.T, r result, finish string, chunks float64) {
	t.Helper()
	doc := object(t, r.out)
	if r.code != 0 || doc["output_tokens"] != 3.0 || doc["token_source"] != "server" || doc["prompt_tokens"] != 64.0 || doc["finish_reason"] != finish ||
		doc["text"] != "knee knee knee " || doc["chunks"] != chunks || doc["model"] != "sim" {
		t.Errorf("exit %d, sample %v\n%s", r.code, doc, r.err)
	}
}

// TestPreflightNamesTheFlag: what a server of any dialect refuses is answered with the
// flag that changes it.
func TestPreflightNamesTheFlag(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dialect, flags, refusal, want string }{
		{"completions", "", "stream_options: Extra inputs are not permitted", "try --omit-field stream_options\n"},
		{"responses", "", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16", "try another --output-tokens (some servers want 16 at least), or --omit-field max_output_tokens\n"},
		{"responses", "--max-tokens-field max_tokens", "Unsupported parameter: 'max_tokens'", "try without --max-tokens-field\n"},
		{"anthropic", "--omit-field max_tokens", "max_tokens: Field required", "try another --output-tokens, without --omit-field and --max-tokens-field\n"},
		{"anthropic", "--ignore-eos", "ignore_eos: Extra inputs are not permitted", "try without --ignore-eos\n"},
		{"chat", "--min-tokens 3", "Unrecognized request argument supplied: min_tokens", "try without --min-tokens\n"},
		{"chat", "--min-tokens 3", "min_tokens must be at most max_tokens", "try without --min-tokens\n"},
		{"chat", `--body {"":0,"n":1,"top_k":1,"reasoning_effort":"low"}`, "reasoning_effort is not supported", "try --body without \"reasoning_effort\"\n"},
		{"anthropic", "", "messages: roles must alternate", "if it speaks another format, choose it with --dialect\n"},
	} {
		url := endpoint(t, func(served) served {
			return says(400, "application/json", `{"type":"error","error":{"type":"invalid_request_error","message":"`+c.refusal+`"}}`)
		})
		r := command(append(append(quick("--url", url, "--model", "m", "--dialect", c.dialect), strings.Fields(c.flags)...), "--out", filepath.Join(t.TempDir(), "run"))...)
		if r.code != exitFailed || !strings.Contains(r.err, "(http_400): "+c.refusal) || !strings.HasSuffix(r.err, c.want) {
			t.Errorf("%s %s: exit %d, want %q in\n%s", c.dialect, c.flags, r.code, c.want, r.err)
		}
	}
	// Nobody is there who speaks it.
	url := endpoint(t, func(served) served { return says(404, "text/plain", "404 page not found") })
	r := command(quick("--url", url, "--model", "m", "--dialect", "responses", "--out", filepath.Join(t.TempDir(), "run"))...)
	if r.code != exitFailed || !strings.Contains(r.err, "/v1/responses failed (http_404)") || !strings.HasSuffix(r.err, "or try another --dialect\n") {
		t.Errorf("exit %d\n%s", r.code, r.err)
	}
}

// TestInsecure asks a server that nobody vouches for.
func TestInsecure(t *testing.T) {
	t.Parallel()
	id := newIdentity(t)
	url := "https://" + secureEndpoint(t, &tls.Config{Certificates: []tls.Certificate{id.pair}})
	ping := []string{"ping", "--json", "--url", url, "--model", "m"}
	if r := command(ping...); r.code != exitFailed || at(t, object(t, r.out), "cause") != "tls" || r.err != "" {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	const warning = "--insecure: the certificate of the server was not checked, so it may be anybody"
	r := command(append(ping, "--insecure")...)
	if r.code != 0 || r.err != "warning: "+warning+"\n" || !strings.Contains(r.out, `"insecure"`) || !strings.Contains(r.out, warning) {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	r = command(quick("--json", "--url", url, "--model", "m", "--insecure", "--out", dir)...)
	if !swept(r) || !strings.Contains(r.err, "warning: "+warning) {
		t.Fatalf("exit %d: %s", r.code, r.err)
	}
	for name, text := range map[string]string{"the sweep": r.out, "the journal": command("analyze", "--json", filepath.Join(dir, journalFile)).out} {
		doc := object(t, text)
		first, _ := at(t, doc, "warnings").([]any)[0].(map[string]any)
		if at(t, doc, "run.request.insecure") != true || first["code"] != "insecure" || first["text"] != warning {
			t.Errorf("%s: warnings %v", name, at(t, doc, "warnings"))
		}
	}
	if !strings.Contains(read(t, filepath.Join(dir, reportFile)), "was not checked") {
		t.Error("the report does not say so")
	}
	// Without TLS there is nothing to check, and the embedded endpoint is ours.
	if r := command("ping", "--url", "", "--insecure"); r.code != 0 || r.err != "" {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestSecretsInBody: a secret of --body reaches the server and nothing else.
func TestSecretsInBody(t *testing.T) {
	t.Parallel()
	var bodies lockedBuffer
	url := endpoint(t, func(next served) served {
		return func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(&bodies, r.Body)
			says(400, "text/plain", "not for "+testKey+" and "+testHeader)(w, r)
		}
	})
	file := write(t, "s.yaml", "url: "+url+"\nmodel: m\nbody: '{\"tenant\":\"${"+keyVariable+"}\",\"options\":{\"api_key\":\""+testHeader+"\"},\"top_p\":1}'\n")
	dir := filepath.Join(t.TempDir(), "run")
	r := command(quick("--config", file, "--out", dir)...)
	if r.code != exitFailed || !strings.Contains(r.err, "not for *** and ***") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if sent := bodies.String(); !strings.Contains(sent, `"tenant":"`+testKey+`","options":{"api_key":"`+testHeader+`"},"top_p":1}`) {
		t.Errorf("sent %s", sent)
	}
	all := r.out + r.err + read(t, filepath.Join(dir, curveFile)) + read(t, filepath.Join(dir, journalFile)) + read(t, filepath.Join(dir, reportFile))
	if !strings.Contains(all, `{\"tenant\":\"***\",\"options\":{\"api_key\":\"***\"},\"top_p\":1}`) {
		t.Errorf("the account of the run does not show what was added:\n%s", all)
	}
	checkSecret(t, "what the sweep left", all)
	shown := command("sweep", "--dry-run", "--config", file)
	if shown.code != 0 || !strings.Contains(shown.out, `{"tenant":"***","options":{"api_key":"***"},"top_p":1}`) {
		t.Errorf("exit %d: %s%s", shown.code, shown.out, shown.err)
	}
	checkSecret(t, "--dry-run", shown.out)
}

// TestExamples reads the documented settings of each kind of endpoint.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/examples/*.yaml")
	files = slices.DeleteFunc(files, func(f string) bool { return strings.HasPrefix(filepath.Base(f), "claims-") }) // those are no settings
	if err != nil || len(files) < 9 {
		t.Fatalf("%d examples, %v", len(files), err)
	}
	dialects := map[string]bool{}
	page := read(t, "../../docs/config.md")
	for _, file := range files {
		text := strings.NewReplacer("${GATEWAY_TOKEN}", "${"+keyVariable+"}").Replace(read(t, file))
		for line := range strings.Lines(text) {
			if name, ok := strings.CutPrefix(line, "api-key-env: "); ok {
				text = strings.Replace(text, line, "api-key-env: "+keyVariable+" # not "+name, 1)
			}
		}
		r := command("sweep", "--dry-run", "--json", "--config", write(t, filepath.Base(file), text))
		if r.code != 0 || r.err != "" {
			t.Errorf("%s: exit %d: %s", file, r.code, r.err)
			continue
		}
		for _, s := range object(t, r.out)["settings"].([]any) {
			if at(t, s, "name") == "dialect" {
				dialects[at(t, s, "value").(string)] = true
			}
		}
		if !strings.Contains(page, "(examples/"+filepath.Base(file)+")") {
			t.Errorf("docs/config.md does not name %s", filepath.Base(file))
		}
		checkSecret(t, file, r.out)
	}
	if len(dialects) < 2 {
		t.Errorf("the examples name the dialects %v", dialects)
	}
}
