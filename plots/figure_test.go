package plots

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

// coarse is a resolution that is enough to see whether a curve can be drawn.
const coarse = 30

// dpi is coarse, or that of a real figure if the PNGs are to be looked at.
func dpi() int {
	if os.Getenv(figuresDir) != "" {
		return pngDPI
	}
	return coarse
}

// figuresDir names the environment variable with a directory in which the tests
// leave their PNGs to be looked at.
const figuresDir = "KNEESWEEP_FIGURES"

// keep leaves a PNG in the directory that figuresDir names.
func keep(t *testing.T, name string, picture []byte) {
	t.Helper()
	dir := os.Getenv(figuresDir)
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		t.Fatal(err)
	}
}

func render(t *testing.T, name, format string) []byte {
	t.Helper()
	f, err := Capacity(curves()[name])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.write(&b, format, dpi()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPNGIsLargeEnoughForASlide(t *testing.T) {
	f, err := Capacity(curves()["one_level"])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, "png"); err != nil {
		t.Fatal(err)
	}
	size, err := png.DecodeConfig(&b)
	if err != nil {
		t.Fatal(err)
	}
	if size.Width < 1600 || size.Height < 1200 {
		t.Errorf("PNG has %d × %d pixels, want at least 1600 × 1200", size.Width, size.Height)
	}
}
