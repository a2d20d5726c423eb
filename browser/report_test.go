//go:build browser

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// curve is a table of a server with a knee at 25, three windows a level.
func curve() string {
	var b strings.Builder
	b.WriteString("concurrency,output_tokens_per_second,ttft_ms,itl_ms\n")
	for n := 1; n <= 128; n *= 2 {
		for window := range 3 {
			fmt.Fprintf(&b, "%d,%g,%g,%g\n", n, 40*min(float64(n), 25)*(1+0.01*float64(window-1)), 50+4*max(0, float64(n)-25), 25.0)
		}
	}
	return b.String()
}

const (
	oneLevel  = "concurrency,output_tokens_per_second,ttft_ms\n4,50,120\n"
	allFailed = "concurrency,output_tokens_per_second\n1,0\n2,0\n4,0\n"
)

// picture is all that the canvases of a chart show.
func picture(id string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#%s canvas")].map((c) => c.toDataURL()).join("|")`, id)
}

// painted counts the canvases of a chart that are not blank.
func painted(id string) string {
	return fmt.Sprintf(`[...document.querySelectorAll("#%s canvas")].filter((c) => c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v > 0)).length`, id)
}

const readout = `document.querySelector("#capacity-chart .readout").textContent`

func TestReport(t *testing.T) {
	t.Parallel()
	p := open(t, pageOf(t, "curve.csv", curve()), 1200)
	if n := eval[int](p, painted("capacity-chart")); n != 2 {
		t.Errorf("%d panels of the capacity curve are painted, want throughput and TTFT", n)
	}
	if h := eval[string](p, `document.querySelector("h1").textContent`); !strings.Contains(h, "Knee at 25 parallel streams") {
		t.Errorf("the headline is %q", h)
	}
	if first := eval[string](p, `document.querySelector("main p.lead").textContent`); !strings.HasPrefix(first, "Throughput stops growing at 25") {
		t.Errorf("the lead is %q", first)
	}
	if eval[string](p, `getComputedStyle(document.querySelector(".static")).display`) != "none" {
		t.Error("the picture for readers without scripts is shown beside the chart")
	}
	t.Logf("load event after %.0f ms", eval[float64](p, `performance.getEntriesByType("navigation")[0].loadEventEnd`))

	t.Run("hover", func(t *testing.T) {
		at := eval[[]float64](p, `(() => { const u = kneesweep.figures.get("capacity-chart").plots[0], r = u.over.getBoundingClientRect();
			u.over.scrollIntoView({ block: "center" }); const b = u.over.getBoundingClientRect();
			return [b.left + u.valToPos(16, "x"), b.top + 40]; })()`)
		p.run(chromedp.MouseEvent(input.DispatchMouseEventTypeMouseMoved, at[0], at[1]))
		p.wait(readout + `.startsWith("N = 16")`)
		if s := eval[string](p, readout); !strings.Contains(s, "output 640") || !strings.Contains(s, "tok/s") || !strings.Contains(s, "TTFT 50 ms") {
			t.Errorf("the level is read out as %q", s)
		}
	})
	t.Run("keys", func(t *testing.T) {
		p.press("capacity-chart")
		if s := eval[string](p, readout); !strings.HasPrefix(s, "N = 32:") {
			t.Errorf("the next level is read out as %q", s)
		}
	})
	t.Run("toggles", func(t *testing.T) {
		for _, name := range []string{"windows", "fitted line", "output", "TTFT", "Streams: linear axis", "Latency: linear axis"} {
			if name == "Latency: linear axis" {
				eval[any](p, `document.querySelector('#capacity-chart [aria-label="Latency: logarithmic axis"]').click()`)
			}
			before := eval[string](p, picture("capacity-chart"))
			pressed := eval[string](p, fmt.Sprintf(`(() => { const b = [...document.querySelectorAll("#capacity-chart button")].find((b) => (b.getAttribute("aria-label") ?? b.textContent) === %s);
				b.click(); return b.getAttribute("aria-pressed"); })()`, quoted(name)))
			if want := fmt.Sprint(strings.Contains(name, "axis")); pressed != want {
				t.Errorf("%s is pressed: %s, want %s", name, pressed, want)
			}
			if eval[string](p, picture("capacity-chart")) == before {
				t.Errorf("%s changes nothing", name)
			}
		}
	})
}

// Pages of one level and of a run that failed as a whole are drawn too.
func TestReportOfLittle(t *testing.T) {
	t.Parallel()
	p := open(t, pageOf(t, "one.csv", oneLevel), 1200)
	if n := eval[int](p, painted("capacity-chart")); n != 2 {
		t.Errorf("%d panels of one level are painted", n)
	}
	p.press("capacity-chart")
	if s := eval[string](p, readout); !strings.HasPrefix(s, "N = 4: output 50 tok/s") {
		t.Errorf("one level is read out as %q", s)
	}
	p = open(t, pageOf(t, "failed.csv", allFailed), 1200)
	if n := eval[int](p, painted("capacity-chart")); n != 1 {
		t.Errorf("%d panels of a failed run are painted", n)
	}
	if h := eval[string](p, `document.querySelector("h1").textContent`); !strings.Contains(h, "No valid measurement") {
		t.Errorf("the headline is %q", h)
	}
}

// Nothing lies beside a phone's screen, and text has the contrast that WCAG AA asks for, in
// light and in dark.
func TestReportOnAPhone(t *testing.T) {
	t.Parallel()
	p := open(t, pageOf(t, "curve.csv", curve()), 360)
	for _, scheme := range []string{"light", "dark"} {
		p.media("screen", scheme)
		if w := eval[int](p, `document.documentElement.scrollWidth`); w > 360 {
			t.Errorf("%s: the page is %d wide", scheme, w)
		}
		if n := eval[int](p, painted("capacity-chart")); n != 2 {
			t.Errorf("%s: %d panels are painted", scheme, n)
		}
		if low := eval[[]string](p, lowContrast); len(low) > 0 {
			t.Errorf("%s: too little contrast: %s", scheme, strings.Join(low, "; "))
		}
	}
}

// lowContrast lists texts whose contrast with their background is below 4.5.
const lowContrast = `(() => {
	const light = (c) => { const [r, g, b] = c.match(/[\d.]+/g).slice(0, 3).map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { for (; e; e = e.parentElement) { const c = getComputedStyle(e).backgroundColor; if (!/, 0\)$/.test(c)) return c; } return "rgb(255, 255, 255)"; };
	const found = [];
	for (const e of document.querySelectorAll("body *")) {
		if (!["SCRIPT", "STYLE", "CANVAS"].includes(e.tagName) && e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) {
			const a = light(getComputedStyle(e).color), b = light(behind(e)), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
			if (ratio < 4.5) found.push(e.tagName + " " + e.textContent.slice(0, 30) + " " + ratio.toFixed(2));
		}
	}
	return found;
})()`

// Without scripts, and on paper, the charts are pictures.
func TestReportWithoutScripts(t *testing.T) {
	t.Parallel()
	address := pageOf(t, "curve.csv", curve())
	const shown = `[...document.querySelectorAll(".static svg")].filter((e) => e.checkVisibility()).length`
	p := open(t, address, 1200)
	if n := eval[int](p, shown); n != 0 {
		t.Errorf("%d pictures are shown beside the charts", n)
	}
	p.media("print", "light")
	if n := eval[int](p, shown); n != 2 {
		t.Errorf("%d pictures on paper, want 2", n)
	}
	p.media("screen", "light")
	p.run(call(emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}), chromedp.Reload())
	if n := eval[int](p, shown); n != 2 {
		t.Errorf("%d pictures without scripts, want 2", n)
	}
	if n := eval[int](p, `document.querySelectorAll("canvas").length`); n != 0 {
		t.Errorf("%d canvases without scripts", n)
	}
}
