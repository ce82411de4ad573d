// Package seeds gives random tests their seed, and reports the seed of a failure. It is for tests only.
//
// The seed is 1, so that a test is the same in every run. The environment variable DEED_SEED replaces it: another number gives
// other cases, and the number in a failure repeats that failure.
package seeds

import (
	"iter"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Variable is the environment variable that holds the seed.
const Variable = "DEED_SEED"

// First returns the seed of t: the number in [Variable], or 1. If t fails, its output names the seed.
func First(t testing.TB) uint64 {
	t.Helper()
	first := read(t)
	t.Cleanup(func() { report(t, first) })
	return first
}

// Rand returns a source of random numbers that depends on [First] alone.
func Rand(t testing.TB) *rand.Rand {
	t.Helper()
	return Stream(First(t), 0)
}

// Stream returns source i of a seed. A test with several goroutines gives each of them a source.
func Stream(seed uint64, i int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(i))) }

// Each yields n seeds: [First] and the numbers after it. It stops at the first seed with which t fails. The output of t names
// that seed.
func Each(t testing.TB, n int) iter.Seq[uint64] {
	t.Helper()
	first := read(t)
	return func(yield func(uint64) bool) {
		at := first
		defer func() { report(t, at) }() // deferred, because t.Fatal ends the goroutine
		for end := first + uint64(n); at < end; at++ {
			if !yield(at) || t.Failed() {
				return
			}
		}
	}
}

// read returns the number in [Variable], or 1. It ends t if the variable is not a number.
func read(t testing.TB) uint64 {
	t.Helper()
	text := os.Getenv(Variable)
	if text == "" {
		return 1
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", Variable, err)
	}
	return n
}

// report logs the seed that repeats the failure of t, if t failed.
func report(t testing.TB, seed uint64) {
	if t.Failed() {
		t.Logf("%s=%d repeats it", Variable, seed)
	}
}
