//go:build !unix

package sweep

import "time"

// processCPU is not known on this system.
func processCPU() time.Duration { return 0 }
