package server_test

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/recording"
	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/internal/servertest"
	"github.com/deed-project/deed/value"
)

// TestRecordings sends the server what a real API server was asked, and expects its answers: status codes, objects with their
// managed fields, failures with their causes and messages, and warnings. The environment variable DEED_RECORDINGS names
// another file to replay, see oracle/record. In short mode it is every eighth history.
func TestRecordings(t *testing.T) {
	files := []string{"../testdata/recordings/recordings.jsonl.gz", "../testdata/recordings/more.jsonl.gz"}
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
		steps := 0
		for i, s := range scenarios {
			if testing.Short() && i%8 != 0 {
				continue
			}
			steps += len(s.Steps)
			t.Run(s.Name, func(t *testing.T) {
				t.Parallel()
				replayed(t, s)
			})
		}
		t.Logf("%s: %d scenarios, %d steps", file, len(scenarios), steps)
	}
}

// replayed replays one scenario up to the first step whose answer differs.
func replayed(t *testing.T, s recording.Scenario) {
	srv, err := server.New(server.Config{Objects: []value.Value{s.CRD}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	}()
	for i, step := range s.Steps {
		got, err := servertest.SendStep(srv, step)
		if err != nil {
			t.Fatal(err)
		}
		if difference := recording.Compare(step, got); difference != "" {
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
