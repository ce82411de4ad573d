//go:build unix

package measure

import (
	"syscall"
	"time"
)

// CPU is the time that this process has spent on all processors, garbage collection in the background included. It passes
// over what other processes do, but for their use of caches.
func CPU() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic("measure: " + err.Error()) // fails for no argument other than a wrong one
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
