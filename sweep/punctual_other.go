//go:build !linux

package sweep

import (
	"context"
	"time"
)

// Punctual sleeps for d, or until ctx ends, as exactly as a timer of the runtime can.
func Punctual(ctx context.Context, d time.Duration) { wait(ctx, d) }
