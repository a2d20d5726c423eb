// Command screenshot takes pictures of a page of kneesweep in Chromium: light, dark,
// and as wide as a phone.
//
//	go run ./screenshot PAGE.html FOLDER
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// views are the pictures: the upper part of the page.
var views = []struct {
	name, scheme string
	width        int64
	height       float64
}{
	{"report-light", "light", 1200, 1750},
	{"report-dark", "dark", 1200, 1750},
	{"report-phone", "light", 360, 2600},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "screenshot:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: screenshot PAGE.html FOLDER")
	}
	path, err := filepath.Abs(args[0])
	if err != nil {
		return err
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.NoSandbox)...)
	defer stop()
	ctx, cancel := chromedp.NewContext(allocator)
	defer cancel()
	for _, v := range views {
		picture, err := take(ctx, "file://"+path, v.width, v.height, v.scheme)
		if err == nil {
			err = os.WriteFile(filepath.Join(args[1], v.name+".png"), picture, 0o644)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	return nil
}

// take is a picture of the upper part of a page.
func take(ctx context.Context, address string, width int64, height float64, scheme string) ([]byte, error) {
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	dark := chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, media)
		return err
	})
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(width, 900), dark, chromedp.Navigate(address)); err != nil {
		return nil, err
	}
	whole, err := chromedp.Run(ctx, chromedp.Evaluate[float64]("document.documentElement.scrollHeight"))
	if err != nil {
		return nil, err
	}
	if height > whole {
		height = whole
	}
	beyond := true
	return chromedp.Run(ctx, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		shot, err := cdp.Call(ctx, t, page.CaptureScreenshot, page.CaptureScreenshotParams{
			Clip: &page.Viewport{Width: float64(width), Height: height, Scale: 1}, CaptureBeyondViewport: &beyond,
		})
		return shot.Data, err
	})
}
