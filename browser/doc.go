// Package browser tests the pages of kneesweep in a real browser: Chromium, without
// a window. It is a module of its own, so that the product does not carry what
// drives a browser. CHROMIUM names the program if it is not found by itself.
package browser
