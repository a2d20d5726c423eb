// Package e2e tests kneesweep against a real inference server.
//
// The test stands behind the build tag e2e, since it installs Ollama from source
// (a few minutes with gcc, once) and measures for a minute and a half:
//
//	go test -tags e2e -count=1 -v -timeout 30m ./e2e/
//
// The server comes from the Go module proxy, is kept in the folder that
// $KNEESWEEP_E2E_CACHE names (.cache/e2e of the repository by default; a relative
// path counts from the root of the repository) and is used again while it is there.
// It serves a model of random weights (see tinymodel) with four slots on a free
// loopback port. Everything else lives in temporary folders, and the server's
// process group is ended with the test, however the test ends.
//
// What is asserted is what holds on a noisy machine too: no request fails, tokens
// come from the server's own usage, the four slots are found, and the time to first
// token jumps past them. Then the server is killed in the middle of a second, short
// sweep and started again: the sweep ends by itself and names the causes. The figures
// measured are printed to the test's log.
//
// Two more tests need no server: sweeps of the embedded endpoint that are killed at
// fifty random moments, whose journals must be read, and endpoints that fail.
package e2e
