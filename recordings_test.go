package deed_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/recording"
	"github.com/deed-project/deed/internal/simulation"
)

// TestRecordings replays what a real API server was asked, and expects its answers: status codes, objects with their managed
// fields, failures with their causes and messages, and warnings. The environment variable DEED_RECORDINGS names another file
// to replay, see oracle/record.
func TestRecordings(t *testing.T) {
	files := []string{"testdata/recordings/recordings.jsonl.gz", "testdata/recordings/more.jsonl.gz"}
	if name := os.Getenv("DEED_RECORDINGS"); name != "" {
		files = append(files, name)
	}
	for _, file := range files {
		scenarios, err := recording.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(scenarios) == 0 {
			t.Errorf("%s holds no scenarios", file)
		}
		counts := map[string]int{}
		for _, s := range scenarios {
			counts[s.Class] += len(s.Steps)
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				replayed(t, s)
			})
		}
		t.Logf("%s: %d scenarios, steps by class: %v", file, len(scenarios), counts)
	}
}

// replayed replays one scenario up to the first step whose answer differs.
func replayed(t *testing.T, s recording.Scenario) {
	server, err := simulation.New(s.CRD)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range s.Steps {
		if difference := recording.Compare(step, server.Serve(step)); difference != "" {
			t.Fatalf("%s, step %d\n%s\n%s", s.Class, i, history(s.Steps[:i+1]), difference)
		}
	}
}

// history lists the last of the given steps, the requests that lead to a difference.
func history(steps []recording.Step) string {
	var b strings.Builder
	for i, step := range slices.Backward(steps) {
		if len(steps)-i > 3 {
			break
		}
		fmt.Fprintf(&b, "%d: %s %s?%s %v -> %d %v\n", i, step.Method, step.Path, step.Query, step.Body, step.Code, step.Response)
	}
	return b.String()
}
