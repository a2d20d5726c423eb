package main

import (
	"fmt"
	"os"
)

// localPorts is how many connections to one address this machine can have at once.
func localPorts() (n int, ok bool) {
	b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	if err != nil {
		return 0, false
	}
	var first, last int
	if _, err := fmt.Sscan(string(b), &first, &last); err != nil || last < first {
		return 0, false
	}
	return last - first + 1, true
}
