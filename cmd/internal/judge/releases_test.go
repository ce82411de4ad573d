package judge_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-project/deed/cmd/internal/checks"
	"github.com/deed-project/deed/cmd/internal/cli"
	"github.com/deed-project/deed/cmd/internal/judge"
)

// TestReleases validates an autoscaler without replicas, which is valid since v1.37. Releases that the server does not emulate are validated
// by the earliest one that it emulates.
func TestReleases(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scaler.yaml")
	if err := os.WriteFile(file, []byte(`apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  minReplicas: 0
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: External, external: {metric: {name: queue}, target: {type: Value, value: "1"}}}]
`), 0o666); err != nil {
		t.Fatal(err)
	}
	const refusal = ".spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"
	for release, valid := range map[string]bool{"1.31": false, "1.36": false, "1.37": true} {
		var out, errs bytes.Buffer
		code := cli.RunWith(cli.Full{NewServer: judge.New, Checks: checks.Local{}}, []string{"validate", "-f", file, "--kubernetes", release}, strings.NewReader(""), &out, &errs)
		if (code == 0) != valid || strings.Contains(out.String(), refusal) == valid {
			t.Errorf("%s: %d\n%s%s", release, code, &out, &errs)
		}
	}
}
