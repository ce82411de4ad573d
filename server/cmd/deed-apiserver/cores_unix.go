//go:build unix

package main

import (
	"syscall"
	"time"
)

// spentNow returns what the process has used until now, if the system tells.
func spentNow() (spent, bool) {
	var r syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return spent{time.Now(), time.Duration(r.Utime.Nano() + r.Stime.Nano())}, err == nil
}
