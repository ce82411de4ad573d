//go:build !unix

package measure

import "time"

// CPU is [Wall] on this system.
func CPU() time.Duration { return Wall() }
