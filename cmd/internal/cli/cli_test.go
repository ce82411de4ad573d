package cli

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/internal/build"
)

func TestDefect(t *testing.T) {
	var stderr bytes.Buffer
	c := newCLI(nil, nil, &stderr)
	root := &cobra.Command{Use: "deed", Run: func(*cobra.Command, []string) { panic("out of luck") }}
	if code := c.run([]string{}, root); code != notice.ExitInternal {
		t.Errorf("exit code %d, want %d", code, notice.ExitInternal)
	}
	got := stderr.String()
	if !strings.HasPrefix(got, "deed "+build.Read().Version+" has a defect: a panic with a string, which --show-secrets shows\n") || !strings.Contains(got, "cli_test.go") {
		t.Errorf("stderr is %q, want the defect with its stack", got)
	}
}

// failingWriter fails like a full disk.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputCannotBeWritten(t *testing.T) {
	for _, format := range []string{report.FormatYAML, report.FormatJSON} {
		var stderr bytes.Buffer
		in := strings.NewReader(`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}`)
		code := Run([]string{"apply", "-o", format}, in, failingWriter{}, &stderr)
		if code != notice.ExitInternal || stderr.String() != "deed: no space left\n" {
			t.Errorf("%s: exit code %d, stderr %q", format, code, stderr.String())
		}
	}
}
