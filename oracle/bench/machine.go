package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
)

// header prints the machine and the method of the measurements below it.
func header(w io.Writer, o options) error {
	clock := "wall"
	if o.cpuClock {
		clock = "cpu"
	}
	_, err := fmt.Fprintf(w, "Machine: %s, %d cores, %s/%s, %s; %s. Measured: %d pairs of samples of %v, %s time.\n",
		processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), load(),
		o.plan.Pairs, o.plan.Length, clock)
	return err
}

// load returns the load of the machine on Linux. Ratios are rough if the load exceeds the number of cores.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	minute, _, found := strings.Cut(string(text), " ")
	if err != nil || !found {
		return "load unknown"
	}
	if n, err := strconv.ParseFloat(minute, 64); err == nil && n > float64(runtime.NumCPU()) {
		return "load " + minute + ", busy with other work"
	}
	return "load " + minute
}

// processor returns the model of the processor on Linux, and "unknown processor" elsewhere.
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
