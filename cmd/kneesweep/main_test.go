package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/urfave/cli/v2"
)

// keyVariable is an environment variable that holds testKey.
const keyVariable = "KNEESWEEP_TEST_KEY"

// asProgram is an environment variable that makes the test binary the program.
const asProgram = "KNEESWEEP_TEST_AS_PROGRAM"

// scratch holds what tests share; it is removed at the end.
var scratch string

// TestMain takes the environment's endpoint and key away, so that no test can
// reach beyond the loopback.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == sourceCommandName { // ceiling runs itself as this
		os.Exit(run(context.Background(), os.Args, os.Stdout, os.Stderr))
	}
	if os.Getenv(asProgram) != "" { // a test runs the program in a process of its own
		main()
	}
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY"} {
		os.Unsetenv(name)
	}
	os.Setenv(keyVariable, testKey)
	cli.HelpFlag, cli.VersionFlag = stateless{cli.HelpFlag.(*cli.BoolFlag)}, stateless{cli.VersionFlag.(*cli.BoolFlag)}
	dir, err := os.MkdirTemp("", "kneesweep-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	scratch = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// stateless is a flag that several programs in one process may share: those of
// urfave/cli write to themselves when they are read.
type stateless struct{ *cli.BoolFlag }

func (f stateless) Apply(set *flag.FlagSet) error {
	for _, name := range f.Names() {
		set.Bool(name, false, f.Usage)
	}
	return nil
}

// result is what a call of the command left behind.
type result struct {
	code     int
	out, err string
}

// command runs the program in this process.
func command(args ...string) result { return commandContext(context.Background(), args...) }

func commandContext(ctx context.Context, args ...string) result {
	var out, errs lockedBuffer
	code := run(ctx, append([]string{"kneesweep"}, args...), &out, &errs)
	return result{code, out.String(), errs.String()}
}

// lockedBuffer is a writer for several goroutines: progress writes on its own.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// short are the flags of a sweep that takes as little time as one can.
var short = []string{"--levels", "1,2,4,8", "--measurements", "2", "--window", "100ms", "--warmup", "1", "--output-tokens", "8"}

// quick adds flags to a short sweep.
func quick(args ...string) []string {
	return append(append([]string{"sweep"}, short...), args...)
}

// swept reports whether a sweep went to its end. Whether any of its levels is
// valid depends on how busy the machine is.
func swept(r result) bool { return r.code == 0 || r.code == exitNoCurve }

// shared is one short sweep of the embedded endpoint, measured once.
var shared = sync.OnceValue(func() (s struct {
	result
	dir string
}) {
	s.dir = filepath.Join(scratch, "shared")
	s.result = command(quick("--json", "--out", s.dir)...)
	return s
})

// write puts a file into a new folder and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// object decodes exactly one JSON object and nothing else.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not one JSON document: %v\n%.300s", err, text)
	}
	if _, err := d.Token(); err != io.EOF {
		t.Fatalf("something follows the JSON document: %.300s", text[d.InputOffset():])
	}
	return v
}

// at follows names into nested objects.
func at(t *testing.T, v any, path string) any {
	t.Helper()
	for _, name := range strings.Split(path, ".") {
		m, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%s: %q is in no object", path, name)
		}
		if v, ok = m[name]; !ok {
			t.Fatalf("%s: there is no %q", path, name)
		}
	}
	return v
}
