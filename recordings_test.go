package deed_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/replay"
)

// different has the recorded answers that replaying does not give, each with the reason. One that is listed must differ.
var different = map[string]string{
	"r-101-14-3 step 5": showsGoValue,
	"r-101-19-6 step 9": showsGoValue,
}

const showsGoValue = "the message shows the value as Go prints the reference's own type: expected map, got &{text}"

// TestRecordings replays what a real API server was asked, and expects its answers: status codes, objects with their managed
// fields, failures with their causes and messages, and warnings. The environment variable DEED_RECORDINGS names another file
// to replay, see oracle/record.
func TestRecordings(t *testing.T) {
	files := []string{"testdata/recordings/recordings.jsonl.gz", "testdata/recordings/more.jsonl.gz"}
	if name := os.Getenv("DEED_RECORDINGS"); name != "" {
		files = append(files, name)
	}
	steps := map[string]bool{}
	for _, file := range files {
		scenarios, err := replay.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(scenarios) == 0 {
			t.Errorf("%s holds no scenarios", file)
		}
		counts := map[string]int{}
		for _, s := range scenarios {
			counts[s.Class] += len(s.Steps)
			for i := range s.Steps {
				steps[stepName(s, i)] = true
			}
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				replayed(t, s)
			})
		}
		t.Logf("%s: %d scenarios, steps by class: %v", file, len(scenarios), counts)
	}
	for name, reason := range different {
		if t.Logf("%s differs: %s", name, reason); !steps[name] {
			t.Errorf("%s is listed as different, but not recorded", name)
		}
	}
}

func stepName(s replay.Scenario, i int) string { return fmt.Sprintf("%s step %d", s.Name, i) }

// replayed replays one scenario up to the first step whose answer differs without being listed.
func replayed(t *testing.T, s replay.Scenario) {
	server, err := replay.New(s.CRD)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range s.Steps {
		difference := replay.Compare(step, server.Serve(step))
		reason, listed := different[stepName(s, i)]
		switch {
		case difference != "" && !listed:
			t.Fatalf("%s, step %d\n%s\n%s", s.Class, i, history(s.Steps[:i+1]), difference)
		case difference == "" && listed:
			t.Errorf("step %d is answered as recorded, but listed as different: %s", i, reason)
		}
	}
}

// history lists the last of the given steps, the requests that lead to a difference.
func history(steps []replay.Step) string {
	var b strings.Builder
	for i, step := range slices.Backward(steps) {
		if len(steps)-i > 3 {
			break
		}
		fmt.Fprintf(&b, "%d: %s %s?%s %v -> %d %v\n", i, step.Method, step.Path, step.Query, step.Body, step.Code, step.Response)
	}
	return b.String()
}
