//go:build race

package typed_test

// Under the race detector sync.Pool drops what it is given at random, so that allocations cannot be
// counted.
func init() { countsAllocations = false }
