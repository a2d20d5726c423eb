package main

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"kneesweep/config"
)

const exampleConfig = "../../docs/sweep.yaml"

// settingsOf are the settings that a dry run with --json shows, "value (source)" by
// name.
func settingsOf(t *testing.T, args ...string) map[string]string {
	t.Helper()
	r := command(append([]string{"sweep", "--dry-run", "--json"}, args...)...)
	if r.code != 0 {
		t.Fatalf("%q: exit %d: %s", args, r.code, r.err)
	}
	all := map[string]string{}
	for _, s := range object(t, r.out)["settings"].([]any) {
		all[at(t, s, "name").(string)] = fmt.Sprintf("%v (%v)", at(t, s, "value"), at(t, s, "source"))
	}
	return all
}

// TestConfigPrecedence: flags win over the file, the file over the environment and
// the defaults.
func TestConfigPrecedence(t *testing.T) {
	t.Setenv(baseURLVariable, "http://from.environment")
	file := write(t, "s.yaml", "url: http://from.file\nmodel: m\nwarmup: 7\nseed: 3\nheader: ['A: 1', 'B: 2,3']\nomit-field: stream_options\n")
	bare := write(t, "t.yaml", "model: m\n")
	for _, c := range []struct {
		args []string
		want map[string]string
	}{
		{[]string{"--config", file}, map[string]string{
			"url": "http://from.file (" + file + ":1)", "model": "m (" + file + ":2)", "warmup": "7 (" + file + ":3)",
			"seed": "3 (" + file + ":4)", "header": "set (masked) (" + file + ":5)", "omit-field": "stream_options (" + file + ":6)", "json": "true (flag)"}},
		{[]string{"--config", file, "--warmup", "5", "--url", "http://from.flag", "--omit-field", "max_tokens"}, map[string]string{
			"url": "http://from.flag (flag)", "model": "m (" + file + ":2)", "warmup": "5 (flag)",
			"seed": "3 (" + file + ":4)", "header": "set (masked) (" + file + ":5)", "omit-field": "max_tokens (flag)", "json": "true (flag)"}},
		{[]string{"--config", bare}, map[string]string{
			"url": "http://from.environment (environment OPENAI_BASE_URL)", "model": "m (" + bare + ":1)", "json": "true (flag)"}},
		{[]string{"--url", ""}, map[string]string{"url": "'' (flag)", "json": "true (flag)"}},
	} {
		if got := settingsOf(t, c.args...); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: got\n%v\nwant\n%v", c.args, got, c.want)
		}
	}
}

// TestConfigHoldsEveryFlag writes every flag of sweep into a file, and looks for what
// the order of sources relies on.
func TestConfigHoldsEveryFlag(t *testing.T) {
	t.Parallel()
	values := map[config.Kind]string{config.Text: "a", config.Bool: "true", config.Int: "3", config.Uint: "3", config.Number: "0.5", config.Duration: "3s"}
	var text strings.Builder
	flags := sweepCommand().Flags
	for _, f := range flags {
		name := f.Names()[0]
		if name != "config" {
			fmt.Fprintf(&text, "%s: %s\n", name, values[kindOf(f)])
		}
		if env := f.(cli.DocGenerationFlag).GetEnvVars(); len(env) > 0 {
			t.Errorf("--%s counts as given when %v is set: a file could not win", name, env)
		}
		if len(f.Names()) > 1 {
			t.Errorf("--%s has a second name, which would not be read from a file", name)
		}
	}
	settings, err := config.Parse("s.yaml", []byte(text.String()), configKeys(flags))
	if err != nil || len(settings) != len(flags)-1 {
		t.Errorf("%d of %d: %v", len(settings), len(flags)-1, err)
	}
	for _, f := range pingCommand().Flags {
		if flagNamed(flags, f.Names()[0]) == nil {
			t.Errorf("ping has --%s, which no file can hold: sweep has it not", f.Names()[0])
		}
	}
}

// TestConfigIsJudgedAsFlags gives the same value by flag and in a file: one error, but
// for the place.
func TestConfigIsJudgedAsFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ key, value string }{
		{"levels", "1,x"}, {"levels", "8:1:1"}, {"max-concurrency", "0"}, {"window", "-1s"}, {"window", "5"}, {"window", "0"}, {"measurements", "0"}, {"measurements", "1.5"},
		{"passes", "0"}, {"warmup", "-1"}, {"think", "-1s"}, {"budget", "0"}, {"token-budget", "0"}, {"seed", "-1"}, {"json", "maybe"},
		{"max-error-rate", "101%"}, {"slo", "ttft_p95"}, {"input-tokens", "0"}, {"output-tokens", "-1"}, {"header", "nocolon"}, {"retries", "-1"},
		{"timeout-connect", "-1s"}, {"timeout-idle", "0"}, {"omit-field", "nope"}, {"api-key-env", "NO_SUCH_NAME"}, {"model", "other"},
		{"url", "ftp://h"}, {"prompts", "missing.jsonl"}, {"ca-cert", "missing.pem"}, {"client-cert", "missing.pem"}, {"max-tokens-field", `'a"'`}, {"requests", "0"},
	} {
		flag := command("sweep", "--dry-run", "--"+c.key+"="+strings.Trim(c.value, "'"))
		path := write(t, "s.yaml", c.key+": "+c.value+"\n")
		file := command("sweep", "--dry-run", "--config", path)
		want := "kneesweep: " + path + ":1: " + c.key
		if got := strings.ReplaceAll(file.err, path+":1: "+c.key, "--"+c.key); got != flag.err || file.code != exitUsage || !strings.HasPrefix(file.err, want) && c.key != "client-cert" && c.key != "url" {
			t.Errorf("%s: %s: exit %d\n%swant\n%s", c.key, c.value, file.code, file.err, flag.err)
		}
	}
}

// TestConfigOfAConflict judges a flag and a key by what holds in the end.
func TestConfigOfAConflict(t *testing.T) {
	t.Parallel()
	file := write(t, "s.yaml", "window: 1s\nlevels: 1,2,4,8\nprompts: p.jsonl\n")
	r := command("sweep", "--dry-run", "--config", file, "--requests", "5", "--input-tokens", "9")
	for _, want := range []string{"--requests and " + file + ":1: window: measure by count", file + ":3: prompts and --input-tokens: give one of them"} {
		if r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("exit %d, want 2 and %s\n%s", r.code, want, r.err)
		}
	}
	// The advice on a value without its quotes is about the command line.
	headers := write(t, "h.yaml", "header: ['A: b']\n")
	if r := command("sweep", "--config", headers, "extra"); r.code != exitUsage || !strings.Contains(r.err, `sweep takes no arguments, got "extra"`) {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	// Errors that come later than the check of the settings name the place as well.
	out := write(t, "o.yaml", "out: "+headers+"\n")
	if r := command(quick("--config", out)...); r.code != exitFailed || !strings.Contains(r.err, out+":1: out: "+headers+" is a file") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestConfigOfPing: a file for sweep serves ping too, which takes its own flags.
func TestConfigOfPing(t *testing.T) {
	t.Setenv("KNEESWEEP_TEST_TENANT", "tenant-secret-7")
	got := make(chan http.Header, 1)
	url := endpoint(t, func(next served) served {
		return func(w http.ResponseWriter, r *http.Request) { got <- r.Header; next(w, r) }
	})
	file := write(t, "s.yaml", "url: "+url+"\nmodel: sim\nlevels: [1, 2]\nbudget: 1m\njson: true\napi-key: ${"+keyVariable+"}\nheader:\n  X-Tenant: a ${KNEESWEEP_TEST_TENANT}\n  X-List: 1,2\n")
	r := command("ping", "--config", file)
	if doc := object(t, r.out); r.code != 0 || r.err != "" || doc["outcome"] != "ok" {
		t.Fatalf("exit %d: %s%s", r.code, r.err, r.out)
	}
	if h := <-got; h.Get("Authorization") != "Bearer "+testKey || h.Get("X-Tenant") != "a tenant-secret-7" || h.Get("X-List") != "1,2" {
		t.Errorf("headers %v", h)
	}
	// A key named on the command line wins over one in the file.
	t.Setenv("KNEESWEEP_TEST_OTHER", "sk-other-0123")
	r = command("ping", "--config", file, "--api-key-env", "KNEESWEEP_TEST_OTHER")
	if h := <-got; r.code != 0 || h.Get("Authorization") != "Bearer sk-other-0123" {
		t.Errorf("exit %d, header %v", r.code, h)
	}
	// What the command line replaces is not needed.
	file = write(t, "u.yaml", "api-key: ${KNEESWEEP_NO_SUCH_VARIABLE}\n")
	if r := command("ping", "--url", url, "--model", "sim", "--config", file, "--api-key-env", keyVariable); r.code != 0 {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestConfigMasksVariables: what a variable puts into a header of any name is a
// secret, even when the server sends it back and the program panics.
func TestConfigMasksVariables(t *testing.T) {
	t.Parallel()
	url := endpoint(t, func(served) served {
		return func(w http.ResponseWriter, r *http.Request) {
			says(403, "text/plain", "not for "+r.Header.Get("X-Tenant"))(w, r)
		}
	})
	file := write(t, "s.yaml", "url: "+url+"\nmodel: m\nheader: {X-Tenant: \"${"+keyVariable+"}\"}\n")
	r := command("ping", "--config", file)
	if r.code != exitFailed || !strings.Contains(r.out, "not for ***") {
		t.Errorf("exit %d: %s%s", r.code, r.out, r.err)
	}
	checkSecret(t, "ping", r.out+r.err)
	r = process(t, []string{panicVariable + "=1", "GOTRACEBACK=all"}, "ping", "--config", file)
	if !strings.Contains(r.err+r.out, "panic: simulated") {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.err)
	}
	checkSecret(t, "the account of the panic", r.err+r.out)
}

// TestKeyOfTheConfigIsNamed: an error about the key names where it was given.
func TestKeyOfTheConfigIsNamed(t *testing.T) {
	t.Parallel()
	file := write(t, "s.yaml", "url: http://h\nmodel: m\napi-key: \"sk-1\\n\"\n")
	r := command("ping", "--config", file)
	if r.code != exitUsage || !strings.Contains(r.err, file+":3: api-key: the key contains a line end") || strings.Contains(r.err, "sk-1") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
}

// TestDryRunShowsSettings wants the settings as text, and no secret among them.
func TestDryRunShowsSettings(t *testing.T) {
	t.Parallel()
	file := write(t, "s.yaml", "url: http://bob:"+testUser+"@h/v1?key="+testHeader+"\nmodel: m\nlabel: about "+testKey+"\n")
	r := command("sweep", "--dry-run", "--config", file, "--api-key-env", keyVariable, "--window", "300ms")
	for _, want := range []string{
		"\nsettings\n", "\n  url          http://h/v1?key=*** ", "\n  model        m ", " " + file + ":2\n", "\n  label        about *** ",
		"\n  api-key      set (masked) ", " environment " + keyVariable + "\n", "\n  window       300ms ", " flag\n", "\nevery other setting has its default\n",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("no %q in\n%s", want, r.out)
		}
	}
	checkSecret(t, "stdout", r.out)
	// What may be the key itself is not shown as a name.
	r = command("sweep", "--dry-run", "--api-key-env", testKey, "--api-key", "x")
	if checkSecret(t, "stdout", r.out); r.code != 0 || !strings.Contains(r.out, "  api-key-env  set (masked)  flag\n") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
}

// TestExampleConfig runs the documented file, and every key of it that is commented out.
func TestExampleConfig(t *testing.T) {
	t.Parallel()
	got := settingsOf(t, "--config", exampleConfig)
	if got["levels"] != "1,2,4,8,16:64:16 ("+exampleConfig+":15)" || len(got) != 14 {
		t.Errorf("%d settings: %v", len(got), got)
	}
	all := strings.NewReplacer("# api-key:", "api-key:", "# X-Gateway", "X-Gateway", "${MY_KEY}", "${"+keyVariable+"}", "${GATEWAY_TOKEN}", "${"+keyVariable+"}").Replace(read(t, exampleConfig))
	if got := settingsOf(t, "--config", write(t, "all.yaml", all)); len(got) != 15 || !strings.HasPrefix(got["api-key"], masked) {
		t.Errorf("%d settings: %v", len(got), got)
	}
}

// TestConfigDocumentation reads what docs/config.md shows, between backquotes and in
// its block.
func TestConfigDocumentation(t *testing.T) {
	t.Parallel()
	page := read(t, "../../docs/config.md")
	shown := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$|`([a-z-]+: [^`]+)`").FindAllStringSubmatch(page, -1)
	if len(shown) < 12 {
		t.Errorf("there are %d examples", len(shown))
	}
	for _, m := range shown {
		if _, err := config.Parse("docs/config.md", []byte(m[1]+m[2]), configKeys(sweepCommand().Flags)); err != nil {
			t.Errorf("%s: %v", m[0], err)
		}
	}
}
