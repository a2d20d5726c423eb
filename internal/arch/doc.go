// Package arch holds the architecture of kneesweep as tests: which package may
// import which, and the habits that a compiler does not check. It has no code
// that runs in the product.
//
// The rules, by number, as in the failure texts:
//
//  1. load imports only the standard library; everybody may import it.
//  2. client and sweep do not know each other.
//  3. analysis and plots do no I/O, read no clock and wait for every goroutine
//     that they start; analysis never imports sim.
//  4. A heavy dependency has one home.
//  5. Packages take plain structs: flags, YAML and the environment stay in cmd
//     and config.
//  6. Only cmd, nightly and tests import record/... and report; only cmd imports
//     nightly and config.
//  7. Arrows only go down the table of layers in rules_test.go. A new package
//     needs a place there.
//  8. Files that are no tests have at most 400 lines.
//  9. Every package has a package comment.
//  10. No package is a drawer: util, common, helpers, pkg, lib.
//
// Imports are those that go list reports, without test files; rules 3 and 5 also
// look into the source for the functions that read a clock or the environment.
// .golangci.yml says the import rules a second time, for editors.
package arch
