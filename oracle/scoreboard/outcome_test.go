package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestOutcome counts specs of Ginkgo and tests of Go, but not the frame of a suite.
func TestOutcome(t *testing.T) {
	const text = "=== RUN   TestSuite\nRunning Suite: Suite\n" +
		"Summarizing 1 Failure:\n  \x1b[38;5;9m[FAIL]\x1b[0m Client \x1b[1m[It] fails\x1b[0m\n" +
		"FAIL! -- 12 Passed | 1 Failed | 2 Pending | 3 Skipped\n--- FAIL: TestSuite (1.0s)\n" +
		"=== RUN   TestPlain\n--- PASS: TestPlain (0.0s)\n    --- PASS: TestPlain/a (0.0s)\n    --- FAIL: TestPlain/b (0.0s)\n--- SKIP: TestOther (0.0s)\nFAIL\n"
	want := result{Passed: 14, Failed: 2, Skipped: 6, Failures: []string{"Client [It] fails", "TestPlain/b"}}
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

// TestPage names tests that fail on one control plane only.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	for plane, failures := range map[string]string{"real": `["p: a", "p: b"]`, "deed": `["p: b", "p: c"]`} {
		text := `{"Suite": "flux ssa v1", "Plane": "` + plane + `", "Passed": 3, "Failed": 2, "Memory": 3000000, "Failures": ` + failures + `}`
		if err := os.WriteFile(filepath.Join(dir, "flux ssa-"+plane+".json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	page := filepath.Join(dir, "page.md")
	if err := writePage(page, dir); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| flux ssa v1 | real | 3 | 2 | 0 | 0 | 2 MB |", "flux ssa v1, fails on real: `p: a`", "flux ssa v1, fails on deed: `p: c`",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %s:\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "p: b") {
		t.Error("a test that fails on both is a difference")
	}
}
