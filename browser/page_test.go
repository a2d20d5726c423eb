//go:build browser

package browser

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tables are runs as a user would hand them in: levels that bend, one level, and
// none that is valid.
var tables = map[string]string{
	"knee": "concurrency,output_tokens_per_second,ttft_ms,itl_ms\n" +
		"1,250,7,4\n1,251,8,4\n2,498,7,4\n2,503,8,4\n4,1000,8,4\n4,990,8,4\n8,2010,8,4\n8,1990,9,4\n16,4000,9,4\n16,3980,9,4\n" +
		"24,6010,10,4\n24,5950,11,4\n32,6050,60,4\n32,5990,58,4\n64,6000,250,4\n64,6020,255,4\n96,6010,400,4\n96,5980,410,4\n",
	"one level":  "concurrency,output_tokens_per_second,ttft_ms,itl_ms\n4,1000,8,4\n4,990,8,4\n",
	"all failed": "concurrency,output_tokens_per_second,ttft_ms,itl_ms\n1,0,,\n2,NaN,,\n4,,,\n8,0,,\n",
}

// pages makes the page of each run with the command itself.
var pages = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "pages")
	if err != nil {
		return nil, err
	}
	command := filepath.Join(dir, "kneesweep")
	build := exec.Command("go", "build", "-o", command, "./cmd/kneesweep")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	made := map[string]string{}
	for name, table := range tables {
		folder := filepath.Join(dir, strings.ReplaceAll(name, " ", "-"))
		file := folder + ".csv"
		if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
			return nil, err
		}
		if out, err := exec.Command(command, "analyze", file, "--out", folder).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w\n%s", err, out)
		}
		made[name] = filepath.Join(folder, "report.html")
	}
	return made, nil
})

// tab is a page in a browser of its own, and what it complained of or asked for.
type tab struct {
	context.Context
	mu       sync.Mutex
	troubles []string
}

func open(t *testing.T, page string, width, height int64, dark bool) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)
	alloc, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	ctx, end := context.WithTimeout(ctx, time.Minute)
	t.Cleanup(end)
	b := &tab{Context: ctx}
	address := (&url.URL{Scheme: "file", Path: page}).String()
	trouble := func(format string, args ...any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.troubles = append(b.troubles, fmt.Sprintf(format, args...))
	}
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			trouble("exception: %s", e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			trouble("console.%s", e.Type)
		case *log.EventEntryAdded:
			trouble("%s: %s", e.Entry.Level, e.Entry.Text)
		case *network.EventRequestWillBeSent:
			if e.Request.URL != address && !strings.HasPrefix(e.Request.URL, "data:") {
				trouble("asks for %s", e.Request.URL)
			}
		}
	})
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	began := time.Now()
	b.run(t, network.Enable(), log.Enable(), emulation.SetDeviceMetricsOverride(width, height, 1, width < 600),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(address), chromedp.WaitReady("main"))
	t.Logf("opened in %.2f s, the browser's own start included", time.Since(began).Seconds())
	return b
}

func (b *tab) run(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b.Context, actions...); err != nil {
		t.Fatal(err)
	}
}

// eval returns what an expression comes to.
func eval[T any](t *testing.T, b *tab, expression string) (v T) {
	t.Helper()
	b.run(t, chromedp.Evaluate(expression, &v))
	return v
}

func (b *tab) check(t *testing.T) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.troubles {
		t.Error(s)
	}
}

// TestPages: every kind of run renders, silently, and nothing is asked for. The page
// is never wider than the window, down to a phone's.
func TestPages(t *testing.T) {
	made, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	for name, page := range made {
		for _, width := range []int64{360, 1200} {
			b := open(t, page, width, 900, width == 360)
			if h1 := eval[string](t, b, `document.querySelector("h1").innerText`); h1 == "" {
				t.Errorf("%s: no headline", name)
			}
			if wide := eval[int64](t, b, `document.documentElement.scrollWidth`); wide > width {
				t.Errorf("%s: %d pixels wide in a window of %d", name, wide, width)
			}
			charts := eval[int](t, b, `document.querySelectorAll("#charts .chart:not([hidden]) canvas").length`)
			if want := map[string]int{"knee": 3, "one level": 3, "all failed": 0}[name]; charts != want {
				t.Errorf("%s: %d charts, want %d", name, charts, want)
			}
			if eval[bool](t, b, `!!document.getElementById("still") && !document.getElementById("still").hidden`) {
				t.Errorf("%s: the still picture stands beside the charts", name)
			}
			b.check(t)
		}
	}
}

// TestHoverAndToggles: pointing at the chart shows the figures of a level, a name in
// the legend hides its line, and the axes switch.
func TestHoverAndToggles(t *testing.T) {
	made, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, made["knee"], 1200, 1600, false)
	legend := `[...document.querySelectorAll("#chart-output .u-legend .u-series .u-value")].map((e) => e.innerText).join("|")`
	before := eval[string](t, b, legend)
	box := eval[[]float64](t, b, `(() => { const r = document.querySelector("#chart-output .u-over").getBoundingClientRect(); return [r.x, r.y, r.width, r.height]; })()`)
	b.run(t, chromedp.MouseEvent("mouseMoved", box[0]+box[2]*0.97, box[1]+box[3]/2), chromedp.Sleep(100*time.Millisecond))
	if after := eval[string](t, b, legend); after == before || !strings.HasPrefix(after, "96|5,99") && !strings.HasPrefix(after, "96|6,0") {
		t.Errorf("pointing at the last level shows %q (before: %q)", after, before)
	}
	off := `document.querySelectorAll("#chart-output .u-legend .u-off").length`
	if n := eval[int](t, b, off); n != 0 {
		t.Fatalf("%d lines are hidden", n)
	}
	b.run(t, chromedp.Click(`#chart-output .u-legend .u-series:nth-child(3) th`))
	if n := eval[int](t, b, off); n != 1 {
		t.Errorf("%d lines are hidden after a click on one", n)
	}
	for _, id := range []string{"log-n", "log-output", "log-latency"} {
		pressed := `document.getElementById("` + id + `").getAttribute("aria-pressed")`
		was := eval[string](t, b, pressed)
		b.run(t, chromedp.Focus("#"+id), chromedp.KeyEvent(" "))
		if is := eval[string](t, b, pressed); is == was {
			t.Errorf("%s stays %s", id, is)
		}
		if n := eval[int](t, b, `document.querySelectorAll("#charts canvas").length`); n != 3 {
			t.Errorf("%d charts after %s", n, id)
		}
	}
	b.check(t)
}

// TestScreenshots draws the page of RUN (a report.html) into the folder SHOTS, light,
// dark and as wide as a phone.
func TestScreenshots(t *testing.T) {
	page, folder := os.Getenv("RUN"), os.Getenv("SHOTS")
	if page == "" || folder == "" {
		t.Skip("RUN and SHOTS name no page and no folder: make screenshots")
	}
	page, err := filepath.Abs(page)
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]struct {
		width, height int64
		dark          bool
	}{"light": {1100, 1500, false}, "dark": {1100, 1500, true}, "phone": {390, 1500, false}} {
		b := open(t, page, s.width, s.height, s.dark)
		var png []byte
		b.run(t, chromedp.Sleep(300*time.Millisecond), chromedp.CaptureScreenshot(&png))
		b.check(t)
		if err := os.WriteFile(filepath.Join(folder, "report-"+name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
