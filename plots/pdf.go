package plots

import (
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// pdfPage draws text as outlines. The PDF canvas would embed only one face of a
// family right, write temporary files, and take text for Windows-1252; outlines
// look the same everywhere and hold every character that the font has.
type pdfPage struct{ *vgpdf.Canvas }

// FillString draws s from at on to the right, with kerning.
func (p pdfPage) FillString(f font.Face, at vg.Point, s string) {
	var buf sfnt.Buffer
	em := fixed.I(int(f.Face.UnitsPerEm()))
	unit := f.Font.Size / vg.Length(f.Face.UnitsPerEm()) / 64 // of a 26.6 number of font units
	var last sfnt.GlyphIndex
	var path vg.Path
	for i, r := range s {
		index, err := f.Face.GlyphIndex(&buf, r)
		if err != nil {
			continue
		}
		if i > 0 {
			if kern, err := f.Face.Kern(&buf, last, index, em, xfont.HintingNone); err == nil {
				at.X += vg.Length(kern) * unit
			}
		}
		if outline, err := f.Face.LoadGlyph(&buf, index, em, nil); err == nil {
			trace(&path, outline, at, unit)
		}
		if advance, err := f.Face.GlyphAdvance(&buf, index, em, xfont.HintingNone); err == nil {
			at.X += vg.Length(advance) * unit
		}
		last = index
	}
	if len(path) > 0 {
		p.Fill(path)
	}
}

// trace adds the outline of a glyph with its origin at the given point.
func trace(path *vg.Path, outline sfnt.Segments, at vg.Point, unit vg.Length) {
	point := func(p fixed.Point26_6) vg.Point {
		return vg.Point{X: at.X + vg.Length(p.X)*unit, Y: at.Y - vg.Length(p.Y)*unit}
	}
	for i, s := range outline {
		switch s.Op {
		case sfnt.SegmentOpMoveTo:
			if i > 0 {
				path.Close()
			}
			path.Move(point(s.Args[0]))
		case sfnt.SegmentOpLineTo:
			path.Line(point(s.Args[0]))
		case sfnt.SegmentOpQuadTo:
			path.QuadTo(point(s.Args[0]), point(s.Args[1]))
		case sfnt.SegmentOpCubeTo:
			path.CubeTo(point(s.Args[0]), point(s.Args[1]), point(s.Args[2]))
		}
	}
	if len(outline) > 0 {
		path.Close()
	}
}
