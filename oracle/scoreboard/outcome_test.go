package main

import (
	"os"
	"os/exec"
	"reflect"
	"testing"
)

// TestOutcome counts specs of Ginkgo and tests of Go, but not the frame of a suite.
func TestOutcome(t *testing.T) {
	const text = "=== RUN   TestSuite\nRunning Suite: Suite\n" +
		"Summarizing 1 Failure:\n  \x1b[38;5;9m[FAIL]\x1b[0m Client \x1b[1m[It] fails\x1b[0m\n" +
		"FAIL! -- 12 Passed | 1 Failed | 2 Pending | 3 Skipped\n--- FAIL: TestSuite (1.0s)\n" +
		"=== RUN   TestPlain\n--- PASS: TestPlain (0.0s)\n    --- PASS: TestPlain/a (0.0s)\n    --- FAIL: TestPlain/b (0.0s)\n--- SKIP: TestOther (0.0s)\nFAIL\n"
	want := result{passed: 14, failed: 2, skipped: 6, failures: []string{"Client [It] fails", "TestPlain/b"}}
	if got := outcome(text); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestMemory finds the memory of a child by its name.
func TestMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("there is no /proc")
	}
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		t.Skip("there is no program sleep: ", err)
	}
	defer func() {
		_ = c.Process.Kill() // and wait for its end
		_ = c.Wait()
	}()
	if memoryOf(os.Getpid(), []string{"sleep"}) == 0 || memoryOf(os.Getpid(), []string{"nothing"}) != 0 {
		t.Error("the memory of the child is not found, or another one is")
	}
}
