// Package browser opens the page of a run (report.html) in a real browser. It is a
// module of its own, so that the product carries no driver of one.
package browser
