package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The names of the control planes that the page compares.
const (
	reference = "real"
	own       = "deed"
)

const pageHead = `# Scoreboard

<!-- page checked: run %s cd oracle && go run ./scoreboard -assets real=DIR -assets deed=DIR -results DIR -page ../docs/scoreboard.md -->
The suites are those of other projects that use envtest, unchanged, as the module proxy has them. Each package gets a control plane of its own from
the folder in KUBEBUILDER_ASSETS: kube-apiserver v1.37.1 with etcd v3.7.0, or the folder that ` + "`deed-apiserver assets`" + ` writes. Ginkgo specs and Go
tests are counted, including subtests. The time is that of the suite on two cores with other work. The memory is the maximum of both programs
together. A test that fails on both needs files that the proxy does not have, or an older Kubernetes, and is not listed.

| suite | control plane | passed | failed | skipped | seconds | memory |
|---|---|---|---|---|---|---|
`

// writePage writes a page with all results in a folder.
func writePage(name, results string) error {
	var page strings.Builder
	fmt.Fprintf(&page, pageHead, time.Now().UTC().Format(time.DateOnly))
	var notes []string
	for _, s := range suites {
		var read []result
		for _, plane := range []string{reference, own} {
			text, err := os.ReadFile(filepath.Join(results, s.Name+"-"+plane+".json"))
			if os.IsNotExist(err) {
				continue
			}
			var r result
			if err == nil {
				err = json.Unmarshal(text, &r)
			}
			if err != nil {
				return err
			}
			read = append(read, r)
			fmt.Fprintf(&page, "| %s | %s | %d | %d | %d | %.0f | %d MB |\n", r.Suite, r.Plane, r.Passed, r.Failed, r.Skipped, r.Seconds, r.Memory>>20)
		}
		if len(read) == 2 {
			notes = append(notes, differences(read[0], read[1])...)
		}
	}
	for _, s := range suites {
		if !s.canRun() {
			fmt.Fprintf(&page, "\n%s %s was not run: %s.\n", s.Name, s.version, s.why)
		}
	}
	for _, s := range suites {
		if s.remark != "" {
			fmt.Fprintf(&page, "\n%s\n", s.remark)
		}
	}
	page.WriteString("\n## Tests that pass on one control plane only\n\n")
	if len(notes) == 0 {
		page.WriteString("None.\n")
	}
	for _, note := range notes {
		page.WriteString(note)
	}
	return os.WriteFile(name, []byte(page.String()), 0o644)
}

// differences returns a line for each test that failed on one of two control planes only.
func differences(a, b result) []string {
	var lines []string
	for _, pair := range [][2]result{{a, b}, {b, a}} {
		for _, failure := range pair[0].Failures {
			if !slices.Contains(pair[1].Failures, failure) {
				lines = append(lines, fmt.Sprintf("- %s, fails on %s: `%s`\n", pair[0].Suite, pair[0].Plane, failure))
			}
		}
	}
	return lines
}
