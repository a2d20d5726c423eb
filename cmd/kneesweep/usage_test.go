package main

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestMisuse calls the command wrongly in every way: exit code 2, the flag or the
// word at fault in the first line, a pointer to the help, nothing on stdout.
func TestMisuse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"--nope", "--nope: kneesweep has no such flag"},
		{"nope", `no such command: "nope"`},
		{"sweep --nope", "--nope: kneesweep sweep has no such flag"},
		{"sweep --nope=1", "--nope: kneesweep sweep has no such flag"},
		{"sweep extra", `sweep takes no arguments, got "extra"`},
		{"sweep -- extra", `sweep takes no arguments, got "extra"`},
		{"sweep --levels", "--levels needs a value"},
		{"sweep --levels --json", "--levels needs a value, but --json follows"},
		{"sweep --out --levels=1", "--out needs a value, but --levels follows"},
		{"sweep --levels=", "--levels: \"\" has an empty item"},
		{"sweep --levels 0", `--levels: "0": 0 is not at least 1`},
		{"sweep --levels 1,,2", `--levels: "1,,2" has an empty item`},
		{"sweep --levels 1,x", `--levels: "x": "x" is not a whole number`},
		{"sweep --levels 8:1:1", `--levels: "8:1:1": 8 is above 1`},
		{"sweep --levels 1:8", `--levels: "1:8": a range is`},
		{"sweep --levels 1:8:x1", `--levels: "1:8:x1": the factor "1"`},
		{"sweep --levels 1000000", `--levels: "1000000": 1000000 is above the bound`},
		{"sweep --journal most", `--journal: "most" is unknown; give chunks, requests or none`},
		{"sweep --journal none --confirm", "--journal: none keeps nothing to compute --confirm from; give requests"},
		{"sweep --max-concurrency 0", "--max-concurrency: 0, need 1 to 100000"},
		{"sweep --max-concurrency 9999999", "--max-concurrency: 9999999, need 1 to 100000"},
		{"sweep --window -1s", "--window: -1s, need a positive duration"},
		{"sweep --window 0", "--window: 0s, need a positive duration"},
		{"sweep --window 5", `--window: "5" is not a duration`},
		{"sweep --measurements 0", "--measurements: 0, need 1 to"},
		{"sweep --measurements 1.5", `--measurements: "1.5" is not a whole number`},
		{"sweep --passes 0", "--passes: 0, need 1 to"},
		{"sweep --passes 99999999", "--passes: 99999999, need 1 to"},
		{"sweep --warmup -1", "--warmup: -1 is negative"},
		{"sweep --think -1s", "--think: -1s is negative"},
		{"sweep --budget 0", "--budget: 0s, need a positive duration"},
		{"sweep --token-budget 0", "--token-budget: 0, need at least 1"},
		{"sweep --label a\x1b[31m", "--label: \"a\\x1b[31m\" holds a control character"},
		{"sweep --seed -1", `--seed: "-1" is not a whole number`},
		{"sweep --json=maybe", `--json: "maybe" is not true or false`},
		{"sweep --max-error-rate 7", `--max-error-rate: "7" is not a share`},
		{"sweep --max-error-rate NaN", `--max-error-rate: "NaN" is not a share`},
		{"sweep --max-error-rate 101%", `--max-error-rate: "101%" is not a share`},
		{"sweep --slo ttft_p95", `--slo: "ttft_p95": no <=; write FIGURE<=VALUE`},
		{"sweep --slo foo_p95<=1s", `--slo: "foo_p95<=1s": no figure "foo_p95"; limits are on ttft, tpot, itl or e2e`},
		{"sweep --slo ttft_p95<=x", `--slo: "ttft_p95<=x": "x" is not a positive time, such as 500ms`},
		{"sweep --slo=", "--slo: no limits; write FIGURE<=VALUE"},
		{"analyze a.csv --slo error_rate<=2", `--slo: "error_rate<=2": "2" is not a share above 0 and below 1, such as 1%`},
		{"sweep --input-tokens 0", "--input-tokens: 0"},
		{"sweep --output-tokens -1", "--output-tokens: -1"},
		{"sweep --header nocolon", "--header: number 1 is not 'Name: value'"},
		{"sweep --header :v", "--header: number 1 is not 'Name: value'"},
		{"sweep --header X-Key: sk-1", "--header: sweep takes no arguments, got 1; quote"},
		{"sweep --retries -1", "--retries: -1 is negative"},
		{"sweep --timeout-connect -1s", "--timeout-connect: -1s is negative"},
		{"sweep --timeout-idle x", `--timeout-idle: "x" is not a duration`},
		{"sweep --omit-field nope", `--omit-field: "nope" is never sent`},
		{"sweep --api-key-env NO_SUCH_NAME", "--api-key-env: the environment variable NO_SUCH_NAME is empty"},
		{"sweep --api-key-env sk-1", "--api-key-env: there is no such environment variable"},
		{"sweep --model other", `--model: "other" needs --url`},
		{"sweep --url http://h", "--model: needed with --url"},
		{"sweep --url ht!tp:// --model m", "--url: not an address"},
		{"sweep --url ftp://h --model m", `--url: scheme "ftp" is not http or https`},
		{"sweep --url http:// --model m", "--url: no host"},
		{"ping extra", `ping takes no arguments, got "extra"`},
		{"ping --levels 1", "--levels: kneesweep ping has no such flag"},
		{"analyze", "analyze needs at least one FILE"},
		{"analyze --json", "analyze needs at least one FILE"},
		{"analyze ../../testdata/curves/example.csv ../../testdata/curves/example.csv --out x", "--out: works with one curve, and these files make 2"},
		{"analyze a.csv --nope", "--nope: kneesweep analyze has no such flag"},
		{"plot", "plot needs at least one FILE"},
		{"plot a.csv", "-o: needed, the picture to write"},
		{"plot a.csv -o", "-o needs a value"},
		{"plot a.csv -o x.gif", `-o: "x.gif" must end in one of .png, .svg, .pdf`},
		{"plot a.csv -o x", `-o: "x" must end in one of .png, .svg, .pdf`},
		{"plot a.csv -o x.png --figure pie", `--figure: "pie" is none of capacity, latency, pareto, cost, ttft-distribution, itl-distribution, timeline`},
		{"plot a.csv -o x.png --x square", `--x: "square" is not linear or log`},
		{"plot a.csv -o x.png --figure pareto --x log", "--x: the figure pareto has no axis of streams"},
		{"plot a.csv -o x.png --level 4", "--level: only the figure timeline shows one level; add --figure timeline"},
		{"plot a.csv -o x.png --figure timeline --level 0", "--level: 0, need at least 1"},
		{"plot a.csv -o x.png --figure timeline --level x", `--level: "x" is not a whole number`},
		{"compare", "compare needs OLD and NEW, or the folder of a sweep of several targets, got 0"},
		{"compare a.csv", "compare needs OLD and NEW, or the folder of a sweep of several targets, got 1"},
		{"compare a.csv b.csv --min-effect 5", `--min-effect: "5" is not a share such as 0.05 or 5%`},
		{"compare a.csv b.csv --min-effect 0", "--min-effect: 0, need a share above 0 and below 1"},
		{"compare a.csv b.csv --min-effect NaN", `--min-effect: "NaN" is not a share`},
		{"compare a.csv b.csv --json --markdown", "--json and --markdown: choose one"},
		{"compare a.csv b.csv -o x.gif", `-o: "x.gif" must end in one of .png, .svg, .pdf`},
		{"plot ../../testdata/curves/example.csv ../../testdata/curves/example.csv -o x.png --figure timeline", "--figure: timeline draws one curve, and these files make 2"},
		{"sim extra", `sim takes no arguments, got "extra"`},
		{"sim --slots 0", "--slots: 0, need at least 1"},
		{"sim --noise x", `--noise: "x" is not a number`},
		{"sim --fault-reject NaN", "--fault-reject: NaN, need a probability"},
		{"sim --fault-stall -1", "--fault-stall: -1, need a probability"},
		{"sim --rate-limit -1", "--rate-limit: -1 is not a rate"},
		{"sim --drift -1", "--drift: -1, need more than -1"},
		{"sim --queue -1", "--queue: -1 is negative"},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := command(strings.Fields(c.args)...)
			first, rest, _ := strings.Cut(r.err, "\n")
			if r.code != exitUsage || !strings.Contains(first, c.want) || r.out != "" {
				t.Errorf("exit %d, want 2 and %q\nstderr: %s\nstdout: %s", r.code, c.want, r.err, r.out)
			}
			if rest != "kneesweep: see kneesweep --help, or --help after a command\n" {
				t.Errorf("after the first line stands\n%s", rest)
			}
			if strings.Contains(r.err, "sk-1") {
				t.Errorf("what may be a key is shown: %s", r.err)
			}
		})
	}
}

// TestMisuseIsSaidAllAtOnce wants one line for each thing that is wrong, in an
// order that does not change.
func TestMisuseIsSaidAllAtOnce(t *testing.T) {
	t.Parallel()
	args := strings.Fields("sweep --measurements 0 --passes 0 --think -1s --window -1s --retries -1 --timeout-idle -1s --budget -1s --levels x")
	first := command(args...)
	for _, flag := range []string{"measurements", "passes", "think", "window", "retries", "timeout-idle", "budget", "levels"} {
		if n := strings.Count(first.err, "kneesweep: --"+flag+":"); n != 1 {
			t.Errorf("--%s is named %d times in\n%s", flag, n, first.err)
		}
	}
	for range 10 {
		if again := command(args...); again != first {
			t.Fatalf("another order:\n%s\n%s", first.err, again.err)
		}
	}
}

func TestEnvironmentNamesItself(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "ht!tp://secret-host")
	if r := command("ping", "--model", "m"); r.code != exitUsage || !strings.Contains(r.err, "comes from OPENAI_BASE_URL") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	if r := command("ping"); r.code != exitUsage || !strings.Contains(r.err, "--model: needed with OPENAI_BASE_URL") {
		t.Errorf("exit %d: %s", r.code, r.err)
	}
	sent := make(chan string, 1)
	url := endpoint(t, func(next served) served {
		return func(w http.ResponseWriter, r *http.Request) { sent <- r.Header.Get("Authorization"); next(w, r) }
	})
	t.Setenv("OPENAI_BASE_URL", url)
	t.Setenv("OPENAI_API_KEY", testKey)
	if r := command("ping", "--model", "sim"); r.code != 0 || <-sent != "Bearer "+testKey {
		t.Errorf("the endpoint and the key of the environment were not used: exit %d, %s%s", r.code, r.out, r.err)
	}
	if r := command("ping", "--url", "http://127.0.0.1:2", "--model", "m"); !strings.Contains(r.out, "http://127.0.0.1:2/v1") {
		t.Errorf("the flag does not win over the environment:\n%s", r.out)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ args, want string }{
		{"", "sweep"}, {"--help", "analyze"}, {"help", "plot"}, {"help sweep", "--max-error-rate"}, {"sweep --help", "--max-error-rate"},
		{"analyze x.csv -h", "--out"}, {"--version", "kneesweep"}, {"sweep --levels 4 --help", "OPENAI_BASE_URL"},
	} {
		if r := command(strings.Fields(c.args)...); r.code != 0 || !strings.Contains(r.out, c.want) || r.err != "" {
			t.Errorf("%q: exit %d, stderr %q, stdout\n%s", c.args, r.code, r.err, r.out)
		}
	}
}

func TestDryRunSendsNothing(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	url := endpoint(t, func(next served) served { requests.Add(1); return next })
	args := []string{"sweep", "--url", url, "--model", "sim", "--levels", "8,1:4:x2,4", "--dry-run"}
	r := command(args...)
	if r.code != 0 || !strings.Contains(r.out, "[1 2 4 8]") || !strings.Contains(r.out, "nothing was sent") {
		t.Errorf("exit %d\n%s%s", r.code, r.out, r.err)
	}
	if doc := object(t, command(append(args, "--json")...).out); len(doc["levels"].([]any)) != 4 || doc["visits"] != 8.0 {
		t.Errorf("got %v", doc)
	}
	if n := requests.Load(); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// broken is a stdout that is full or closed.
type broken struct{}

var errFull = errors.New("no space left on device")

func (broken) Write([]byte) (int, error) { return 0, errFull }

// TestStdoutThatIsFull wants exit code 1 and the reason, whatever was to be said.
func TestStdoutThatIsFull(t *testing.T) {
	t.Parallel()
	csv := write(t, "a.csv", "concurrency,output_tokens_per_second\n1,10\n2,20\n")
	for _, args := range []string{
		"analyze " + csv, "analyze --json " + csv, "analyze --json " + csv + " " + csv, "sweep --dry-run", "sweep --dry-run --json",
		"ping", "ping --json", "sim --listen 127.0.0.1:0",
	} {
		var errs lockedBuffer
		code := run(t.Context(), append([]string{"kneesweep"}, strings.Fields(args)...), broken{}, &errs)
		if code != exitFailed || errs.String() != "kneesweep: "+errFull.Error()+"\n" {
			t.Errorf("%s: exit %d, stderr %s", args, code, errs.String())
		}
	}
}

// TestOutThatCannotBe wants nothing overwritten and nothing measured.
func TestOutThatCannotBe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	taken := filepath.Join(dir, "taken")
	if err := errors.Join(os.WriteFile(file, []byte("mine"), 0o600), os.Mkdir(taken, 0o700),
		os.WriteFile(filepath.Join(taken, figureFile), []byte("mine"), 0o600)); err != nil {
		t.Fatal(err)
	}
	csv := write(t, "a.csv", "concurrency,output_tokens_per_second\n1,10\n2,20\n")
	for out, want := range map[string]string{
		file:                      "--out: " + file + " is a file; give a folder",
		taken:                     "--out: " + filepath.Join(taken, figureFile) + " exists already; choose another folder",
		filepath.Join(file, "in"): "--out: mkdir",
	} {
		for _, args := range [][]string{quick("--out", out), {"analyze", csv, "--out", out}} {
			r := command(args...)
			if r.code != exitFailed || !strings.Contains(r.err, want) || r.out != "" {
				t.Errorf("%s: exit %d, want 1 and %q\n%s%s", args[0], r.code, want, r.err, r.out)
			}
		}
	}
	if read(t, file) != "mine" || read(t, filepath.Join(taken, figureFile)) != "mine" {
		t.Error("a file was overwritten")
	}
	if list, _ := os.ReadDir(taken); len(list) != 1 {
		t.Errorf("%v was added to", list)
	}
}
