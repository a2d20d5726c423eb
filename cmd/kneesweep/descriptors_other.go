//go:build !unix

package main

// checkDescriptors knows no limit on this system.
func checkDescriptors(int, int) error { return nil }
