package page

import (
	"bytes"
	"html/template"
	"regexp"
)

var (
	styled     = regexp.MustCompile(`\sstyle="([^"]*)"`)
	declared   = regexp.MustCompile(`([a-z-]+):([^;"]+);?`)
	dimensions = regexp.MustCompile(` width="[0-9.]+pt" height="[0-9.]+pt"`)
)

// inline is a picture of package plots as a part of the page: without the prolog
// and the size in points, and with its styles as attributes, which the policy of
// the page allows and its own styles can turn dark. Text in the picture has its
// quotes escaped, so that it cannot look like a style.
func inline(svg []byte) template.HTML {
	if i := bytes.Index(svg, []byte("<svg")); i > 0 {
		svg = svg[i:]
	}
	svg = dimensions.ReplaceAll(svg, nil)
	svg = styled.ReplaceAllFunc(svg, func(style []byte) []byte {
		return declared.ReplaceAll(styled.FindSubmatch(style)[1], []byte(` $1="$2"`))
	})
	return template.HTML(svg) //nolint:gosec // drawn by package plots, which escapes its texts
}
