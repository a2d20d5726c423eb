package plots

import (
	"image/color"
	"strings"
	"sync"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The palette of Okabe and Ito, which stays distinct for colour-blind readers,
// and lighter tones of it. All are opaque, since not every format blends.
var (
	ink        = color.NRGBA{0x22, 0x22, 0x22, 0xff}
	muted      = color.NRGBA{0x5f, 0x5f, 0x5f, 0xff}
	faint      = color.NRGBA{0xe6, 0xe6, 0xe6, 0xff}
	grey       = color.NRGBA{0x8c, 0x8c, 0x8c, 0xff}
	white      = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	blue       = color.NRGBA{0x00, 0x72, 0xb2, 0xff}
	paleBlue   = color.NRGBA{0x8f, 0xc0, 0xdf, 0xff}
	orange     = color.NRGBA{0xe6, 0x9f, 0x00, 0xff}
	darkOrange = color.NRGBA{0xa8, 0x70, 0x00, 0xff}
	green      = color.NRGBA{0x00, 0x9e, 0x73, 0xff}
	darkGreen  = color.NRGBA{0x00, 0x75, 0x55, 0xff}
	vermillion = color.NRGBA{0xd5, 0x5e, 0x00, 0xff}
	paleRed    = color.NRGBA{0xfb, 0xe6, 0xd6, 0xff}
	purple     = color.NRGBA{0xa8, 0x4f, 0x86, 0xff}
	skyBlue    = color.NRGBA{0x56, 0xb4, 0xe9, 0xff}
	paleGreen  = color.NRGBA{0xa6, 0xd9, 0xc9, 0xff}

	// Tones of boxes inside each other, from the outermost.
	blue1 = color.NRGBA{0xd3, 0xe6, 0xf2, 0xff}
	blue2 = color.NRGBA{0xab, 0xcf, 0xe6, 0xff}
	blue3 = color.NRGBA{0x78, 0xb3, 0xd8, 0xff}
	grey1 = color.NRGBA{0xe9, 0xe9, 0xe9, 0xff}
	grey2 = color.NRGBA{0xdb, 0xdb, 0xdb, 0xff}
	grey3 = color.NRGBA{0xc8, 0xc8, 0xc8, 0xff}

	warmUp      = color.NRGBA{0xee, 0xee, 0xee, 0xff}
	windowTones = [2]color.NRGBA{{0xe6, 0xf1, 0xf8, 0xff}, {0xf3, 0xf8, 0xfb, 0xff}}
)

// Font sizes in points.
const (
	titleSize   = 21
	textSize    = 11.5
	headingSize = 12.5
	tickSize    = 11
)

// fonts is the embedded Liberation family.
var fonts = sync.OnceValue(func() *font.Cache { return font.NewCache(liberation.Collection()) })

// words is a text style of Liberation Sans, aligned as given.
func words(size float64, c color.Color, bold bool, x text.XAlignment, y text.YAlignment) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: vg.Points(size)}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: c, Font: f, XAlign: x, YAlign: y, Handler: text.Plain{Fonts: fonts()}}
}

// line is a line style; dashes are lengths in points.
func line(width float64, c color.Color, dashes ...float64) draw.LineStyle {
	s := draw.LineStyle{Color: c, Width: vg.Points(width)}
	for _, d := range dashes {
		s.Dashes = append(s.Dashes, vg.Points(d))
	}
	return s
}

// glyph is a marker of radius r points.
func glyph(shape draw.GlyphDrawer, r float64, c color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Shape: shape, Radius: vg.Points(r), Color: c}
}

// fit shortens s with an ellipsis until it is at most width wide, and makes it
// one line of printable text.
func fit(s string, style text.Style, width vg.Length) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if style.Width(s) <= width {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && style.Width(string(r)+"…") > width {
		r = r[:len(r)-1]
	}
	return string(r) + "…"
}

// diamond is a hollow diamond.
type diamond struct{}

// DrawGlyph draws the diamond at p.
func (diamond) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, p vg.Point) {
	r := s.Radius * 1.25
	corners := []vg.Point{{X: p.X, Y: p.Y + r}, {X: p.X + r, Y: p.Y}, {X: p.X, Y: p.Y - r}, {X: p.X - r, Y: p.Y}}
	c.FillPolygon(white, corners)
	c.StrokeLines(draw.LineStyle{Color: s.Color, Width: vg.Points(1.4)}, append(corners, corners[0], corners[1]))
}

// cross is an oblique cross of thin strokes.
type cross struct{}

// DrawGlyph draws the cross at p.
func (cross) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, p vg.Point) {
	r, l := s.Radius, draw.LineStyle{Color: s.Color, Width: vg.Points(1.6)}
	c.StrokeLine2(l, p.X-r, p.Y-r, p.X+r, p.Y+r)
	c.StrokeLine2(l, p.X-r, p.Y+r, p.X+r, p.Y-r)
}

// hollow is a shape of which only the outline is left.
type hollow struct{ draw.GlyphDrawer }

// DrawGlyph draws the outline at p.
func (h hollow) DrawGlyph(c *draw.Canvas, s draw.GlyphStyle, p vg.Point) {
	s.Shape = h.GlyphDrawer
	c.DrawGlyphNoClip(s, p)
	s.Color, s.Radius = white, s.Radius*0.62
	c.DrawGlyphNoClip(s, p)
}

// hollowIf makes a marker hollow if yes.
func hollowIf(yes bool, g draw.GlyphStyle) draw.GlyphStyle {
	if yes {
		g.Shape = hollow{g.Shape}
		g.Radius += vg.Points(0.6)
	}
	return g
}
