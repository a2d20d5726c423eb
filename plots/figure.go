package plots

import (
	"bytes"
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The size of a figure. As PNG it has 2000 × 1700 pixels.
const (
	figureWidth  = 10 * vg.Inch
	figureHeight = 8.5 * vg.Inch
	pngDPI       = 200
)

// Figure is a picture that can be written in several formats, any number of
// times.
type Figure struct {
	paint func(*draw.Canvas)
}

// Formats are the formats of [Figure.Write].
func Formats() []string { return []string{"png", "svg", "pdf"} }

// Write writes the figure as "png", "svg" or "pdf". The error names an unknown
// format, or is that of w.
func (f *Figure) Write(w io.Writer, format string) error { return f.write(w, format, pngDPI) }

// write is Write with the resolution of a PNG in dots per inch.
func (f *Figure) write(w io.Writer, format string, dpi int) error {
	var page vg.CanvasWriterTo
	switch format {
	case "png":
		page = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(figureWidth, figureHeight), vgimg.UseDPI(dpi))}
	case "svg":
		page = svgPage{vgsvg.New(figureWidth, figureHeight)}
	case "pdf":
		page = pdfPage{vgpdf.New(figureWidth, figureHeight)}
	default:
		return fmt.Errorf("plot: unknown format %q, want png, svg or pdf", format)
	}
	c := draw.New(page)
	c.SetColor(white)
	c.Fill(c.Rectangle.Path())
	f.paint(&c)
	_, err := page.WriteTo(w)
	return err
}

// svgPage names fonts of the same widths for readers without Liberation Sans.
type svgPage struct{ *vgsvg.Canvas }

// WriteTo writes the picture with a longer list of fonts.
func (p svgPage) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if _, err := p.Canvas.WriteTo(&b); err != nil {
		return 0, err
	}
	const family = "font-family:Liberation Sans"
	n, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte(family+";"), []byte(family+",Arial,Helvetica,sans-serif;")))
	return int64(n), err
}
