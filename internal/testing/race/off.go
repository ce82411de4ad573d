//go:build !race

// Package race reports whether the race detector is on. With the race detector, sync.Pool drops values at random, so that tests
// cannot count allocations.
package race

// Enabled reports whether the race detector is on.
const Enabled = false
