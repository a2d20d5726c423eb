//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// spareDescriptors are needed beside the connections: files, polling, dials.
const spareDescriptors = 32

// checkDescriptors refuses a sweep that would run out of file descriptors; the
// runtime has raised the soft limit to the hard one already. Each connection
// takes perStream of them.
func checkDescriptors(streams, perStream int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // not known: dialling will tell
	}
	return descriptorsFor(streams, perStream, limit.Cur)
}

func descriptorsFor(streams, perStream int, limit uint64) error {
	need := uint64(streams*perStream + spareDescriptors)
	if need <= limit {
		return nil
	}
	most := (int(limit) - spareDescriptors) / perStream
	return fmt.Errorf("--levels: %d streams need %d file descriptors and %d are allowed; stay at or below %d, or raise the limit (ulimit -n %d)",
		streams, need, limit, max(0, most), need)
}
