package plots

import "io"

// goldenDPI is the resolution of the golden pictures: small files, in which
// everything can still be read.
const goldenDPI = 80

// WriteGolden writes a small PNG.
func (f *Figure) WriteGolden(w io.Writer) error { return f.write(w, "png", goldenDPI) }
