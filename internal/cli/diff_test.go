package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestDiffHere compares without a program called diff.
func TestDiffHere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(diffVariable, "")
	var stdout, stderr bytes.Buffer
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	if code := Run([]string{"diff", "--color", "always"}, strings.NewReader(object), &stdout, &stderr); code != exitFinding {
		t.Errorf("exit code %d, want %d; stderr %q", code, exitFinding, &stderr)
	}
	for _, line := range []string{"+++ ", "@@ -0,0 +1,4 @@\x1b[0m\n", "\n\x1b[32m+kind: ConfigMap\x1b[0m\n"} {
		if !strings.Contains(stdout.String(), line) {
			t.Errorf("the difference lacks %q:\n%s", line, &stdout)
		}
	}
}
