package main

import (
	"syscall"
	"time"
	"unsafe"
)

// clockGettime asks the kernel for a clock.
func clockGettime(id uintptr) time.Duration {
	var t syscall.Timespec
	if _, _, e := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0); e != 0 {
		panic(e)
	}
	return time.Duration(t.Nano())
}
