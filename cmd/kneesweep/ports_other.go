//go:build !linux

package main

// localPorts is not known on this system.
func localPorts() (n int, ok bool) { return 0, false }
