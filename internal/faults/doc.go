// Package faults holds the tests of whole sweeps against endpoints that break:
// workers, HTTP client, a network in memory and an HTTP server that refuses, hangs,
// lies or dies, all in virtual time. It has no code of its own.
package faults
