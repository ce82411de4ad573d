package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

// header prints where and how the tables below it were measured.
func header(w io.Writer, o options) error {
	clock := "wall"
	if o.cpuClock {
		clock = "cpu"
	}
	_, err := fmt.Fprintf(w, "Machine: %s, %d cores, %s/%s, %s. %d pairs of samples of %v, %s time.\n",
		processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), o.plan.Pairs, o.plan.Length, clock)
	return err
}

// processor returns the model of the processor as Linux has it, and "unknown processor" elsewhere.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err == nil {
		for line := range strings.Lines(string(text)) {
			if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
				return strings.TrimSpace(model)
			}
		}
	}
	return "unknown processor"
}
