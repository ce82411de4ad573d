package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/report"
)

// TestDiffHere runs deed diff without a program called diff.
func TestDiffHere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(report.DiffVariable, "")
	var stdout, stderr bytes.Buffer
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"
	if code := Run([]string{"diff", "--color", "always"}, strings.NewReader(object), &stdout, &stderr); code != notice.ExitFinding {
		t.Errorf("exit code %d, want %d; stderr %q", code, notice.ExitFinding, &stderr)
	}
	for _, line := range []string{"+++ ", "@@ -0,0 +1,4 @@\x1b[0m\n", "\n\x1b[32m+kind: ConfigMap\x1b[0m\n"} {
		if !strings.Contains(stdout.String(), line) {
			t.Errorf("the difference lacks %q:\n%s", line, &stdout)
		}
	}
}
