package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

var (
	colors    = regexp.MustCompile("\x1b\\[[0-9;]*m")
	ginkgoSum = regexp.MustCompile(`-- (\d+) Passed \| (\d+) Failed \| (\d+) Pending \| (\d+) Skipped`)
	goTest    = regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP): (\S+)`)
)

// outcome counts what a program of tests printed: specs of Ginkgo, and tests of Go that are not the frame of a suite of Ginkgo. A test with
// subtests counts as one more.
func outcome(text string) result {
	text = colors.ReplaceAllString(text, "")
	var r result
	frame := false // the next test of Go is the frame of a suite
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if m := ginkgoSum.FindStringSubmatch(line); m != nil {
			r.Passed += number(m[1])
			r.Failed += number(m[2])
			r.Skipped += number(m[3]) + number(m[4])
			frame = true
			continue
		}
		if name, isFailure := strings.CutPrefix(strings.TrimSpace(line), "[FAIL] "); isFailure && strings.Contains(name, "[") {
			if !slices.Contains(r.Failures, name) {
				r.Failures = append(r.Failures, name)
			}
			continue
		}
		m := goTest.FindStringSubmatch(line)
		switch {
		case m == nil:
		case frame && !strings.Contains(m[2], "/"):
			frame = false
		case m[1] == "PASS":
			r.Passed++
		case m[1] == "SKIP":
			r.Skipped++
		default:
			r.Failed++
			r.Failures = append(r.Failures, m[2])
		}
	}
	return r
}

func number(text string) int {
	n, _ := strconv.Atoi(text) // of digits
	return n
}

// memoryOf returns the resident memory of the descendants of a process that have one of the names, in bytes. It knows Linux only, and returns
// 0 elsewhere.
func memoryOf(pid int, names []string) int64 {
	parents, memory, named := map[int]int{}, map[int]int64{}, map[int]bool{}
	files, _ := filepath.Glob("/proc/[0-9]*/status")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		child, parent, bytes := 0, 0, int64(0)
		is := false
		for line := range strings.Lines(string(text)) {
			key, v, _ := strings.Cut(strings.TrimSpace(line), ":")
			v = strings.TrimSpace(v)
			switch key {
			case "Name":
				is = slices.Contains(names, v)
			case "Pid":
				child = number(v)
			case "PPid":
				parent = number(v)
			case "VmRSS":
				var kB int64
				if _, err := fmt.Sscan(v, &kB); err == nil {
					bytes = kB << 10
				}
			}
		}
		parents[child], memory[child], named[child] = parent, bytes, is
	}
	var sum int64
	for child := range parents {
		if !named[child] {
			continue
		}
		for at := child; at != 0; at = parents[at] {
			if at == pid {
				sum += memory[child]
				break
			}
		}
	}
	return sum
}
