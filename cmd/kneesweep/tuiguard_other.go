//go:build !unix

package main

import "os"

var guardIgnores = []os.Signal{os.Interrupt}
