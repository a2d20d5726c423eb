package plots

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"
)

func render(t *testing.T, name, format string) []byte {
	t.Helper()
	f, err := Capacity(curves()[name])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestCapacityDrawsEveryCurve draws all curves in all formats. With the
// environment variable KNEESWEEP_FIGURES the PNGs are kept in that directory.
func TestCapacityDrawsEveryCurve(t *testing.T) {
	keep := os.Getenv("KNEESWEEP_FIGURES")
	for name := range curves() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			picture := render(t, name, "png")
			size, err := png.DecodeConfig(bytes.NewReader(picture))
			if err != nil {
				t.Fatal(err)
			}
			if size.Width < 1600 || size.Height < 1200 {
				t.Errorf("PNG has %d × %d pixels, want at least 1600 × 1200", size.Width, size.Height)
			}
			if keep != "" {
				if err := os.WriteFile(filepath.Join(keep, name+".png"), picture, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if b := render(t, name, "pdf"); !bytes.HasPrefix(b, []byte("%PDF")) {
				t.Errorf("PDF starts with %.20q", b)
			}
			if b := render(t, name, "svg"); !bytes.Contains(b, []byte("</svg>")) || bytes.Contains(b, []byte("NaN")) || bytes.Contains(b, []byte("Inf")) {
				t.Error("SVG is cut or holds a number that is not finite")
			}
		})
	}
}
