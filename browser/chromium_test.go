//go:build browser

package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// patience is how long anything may take before a test gives up.
const patience = 2 * time.Minute

var (
	chromium context.Context // of the browser that all tests share
	program  string          // kneesweep
)

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "kneesweep-browser-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "kneesweep")
	build := exec.Command("go", "build", "-o", program, "./cmd/kneesweep")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %v\n%s", err, out))
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox, chromedp.WSURLReadTimeout(patience))
	if path := os.Getenv("CHROMIUM"); path != "" {
		options = append(options, chromedp.ExecPath(path))
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var cancel context.CancelFunc
	chromium, cancel = chromedp.NewContext(allocator)
	defer cancel()
	if err := chromedp.Do(chromium); err != nil {
		panic(fmt.Sprintf("chromium: %v", err))
	}
	return m.Run()
}

// tab is one page in the browser. At the end of the test it must have asked for
// nothing that is not allowed, and its console must hold no error.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu      sync.Mutex
	trouble []string
	asked   []string
}

// open opens a page of the given width; requests may go to addresses with one of
// the beginnings only.
func open(t *testing.T, address string, width int64, allowed ...string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium)
	ctx, stop := context.WithTimeout(ctx, patience)
	tab := &tab{t: t, ctx: ctx}
	note := func(format string, args ...any) {
		tab.mu.Lock()
		defer tab.mu.Unlock()
		tab.trouble = append(tab.trouble, fmt.Sprintf(format, args...))
	}
	err := chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			note("exception: %s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
				note("console: %s", e.Args[0].Value)
			}
		case *log.EventEntryAdded:
			if e.Entry.Level != log.EntryLevelError {
				break // such as a hint on how this test reads canvases
			}
			note("log: %s %s", e.Entry.Text, e.Entry.URL)
		case *network.EventRequestWillBeSent:
			if e.Request.URL != address && !slices.ContainsFunc(allowed, func(a string) bool { return strings.HasPrefix(e.Request.URL, a) }) {
				note("request to %s", e.Request.URL)
			}
			tab.mu.Lock()
			tab.asked = append(tab.asked, e.Request.URL)
			tab.mu.Unlock()
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		cancel()
		tab.mu.Lock()
		defer tab.mu.Unlock()
		for _, s := range tab.trouble {
			t.Error(s)
		}
		if len(tab.asked) == 0 {
			t.Error("the browser did not ask for the page, so nobody watched its requests")
		}
	})
	tab.run(call(network.Enable, network.EnableParams{}), call(log.Enable, cdp.Empty{}), chromedp.EmulateViewport(width, 900), chromedp.Navigate(address))
	return tab
}

// call is an action that sends one command of the protocol.
func call[P, R any](command cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, command, params)
		return err
	})
}

func (p *tab) run(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	if err := chromedp.Do(p.ctx, actions...); err != nil {
		p.t.Fatal(err)
	}
}

// eval is the value of a JavaScript expression.
func eval[T any](p *tab, expression string) T {
	p.t.Helper()
	v, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

// wait waits until a JavaScript expression is true.
func (p *tab) wait(expression string) {
	p.t.Helper()
	if _, err := chromedp.Run(p.ctx, chromedp.Poll[bool](expression)); err != nil {
		p.t.Fatalf("%s: %v", expression, err)
	}
}

// press presses the right arrow key in a chart.
func (p *tab) press(chart string) {
	p.t.Helper()
	p.run(chromedp.Focus(chromedp.CSS("#"+chart+" .plots")), chromedp.KeyEvent(kb.ArrowRight))
}

// media is what the page believes to be shown on.
func (p *tab) media(medium, scheme string) {
	p.t.Helper()
	p.run(call(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Media: medium, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	}))
}

// kneesweep runs the command and wants it to succeed.
func kneesweep(t *testing.T, args ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("kneesweep %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// pageOf is the address of the page made of a file, whose content is given unless
// it is there.
func pageOf(t *testing.T, file, content string) string {
	t.Helper()
	dir := t.TempDir()
	if content != "" {
		file = filepath.Join(dir, file)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "report.html")
	kneesweep(t, "analyze", "--html", out, file)
	return "file://" + out
}

// quoted is s as a JavaScript string.
func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}
