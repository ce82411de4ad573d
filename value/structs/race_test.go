//go:build race

package structs

// Under the race detector sync.Pool drops what it is given at random, so that allocations cannot be
// counted.
func init() { countsAllocations = false }
