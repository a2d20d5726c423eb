package main

import (
	"fmt"
	"os"
	"strings"
)

// noise is the share of one core that other work may take.
const noise = 0.05

// quietly repeats a run while other processes take the cores away from it.
func (p *plan) quietly(name string, s setting) (best outcome, err error) {
	for i := range p.tries {
		before := busy()
		o, err := p.once(name, s)
		if err != nil {
			return o, err
		}
		o.others = max(0, busy()-before-o.cpu-o.sourceBusy*o.wall) / o.wall
		if i == 0 || o.others < best.others {
			best = o
		}
		if best.others <= noise {
			break
		}
	}
	return best, nil
}

// busy returns the seconds that the first two cores have worked for anyone, time
// stolen by the machine's host included; 0 if it cannot be told.
func busy() (seconds float64) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		var core string
		var user, nice, system, idle, wait, irq, soft, steal float64
		n, _ := fmt.Sscan(line, &core, &user, &nice, &system, &idle, &wait, &irq, &soft, &steal)
		if n == 9 && (core == "cpu0" || core == "cpu1") {
			seconds += (user + nice + system + irq + soft + steal) / 100
		}
	}
	return seconds
}
