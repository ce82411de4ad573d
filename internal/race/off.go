//go:build !race

// Package race tells whether the race detector is on. Then sync.Pool drops at random what it is given, so that no test can count
// allocations.
package race

// Enabled reports whether the race detector is on.
const Enabled = false
