package pods_test

import (
	"fmt"
	"testing"

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
	"github.com/deed-project/deed/value"
)

// Recordings of kube-apiserver, which package kinds replays, hold what is refused of pods. This test holds how it is asked.
func TestValidate(t *testing.T) {
	const spec = `"dnsPolicy":"ClusterFirst","restartPolicy":"Always","terminationGracePeriodSeconds":30`
	for _, c := range []struct{ pod, errors, warnings string }{
		{`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i","imagePullPolicy":"Always","terminationMessagePolicy":"File"}],` + spec + `}}`,
			"[]", "[]"},
		{`{"metadata":{"name":"a"},"spec":{` + spec + `}}`, "[spec.containers: Required value]", "[]"},
		{`{"metadata":{"name":"a"},"spec":{"containers":[{"name":"C","image":"i","imagePullPolicy":"Always","terminationMessagePolicy":"File",` +
			`"resources":{"limits":{"memory":"1m"}}}],` + spec + `}}`,
			"[spec.containers[0].name: Invalid value: \"C\": a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', " +
				"and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is " +
				"'[a-z0-9]([-a-z0-9]*[a-z0-9])?')]",
			`[spec.containers[0].resources.limits[memory]: fractional byte value "1m" is invalid, must be an integer]`},
	} {
		pod, err := value.Parse([]byte(c.pod))
		if err != nil {
			t.Fatal(err)
		}
		w := walk.New(t.Context())
		var report walk.Report
		var warnings walk.Warnings
		root := w.Root(pod)
		pods.Validate(&report, root, value.Value{})
		pods.Warn(&warnings, root.At("spec"), root.At("metadata").At("annotations"), false)
		if got := fmt.Sprint(report.Errs); got != c.errors {
			t.Errorf("%s\n got %s\nwant %s", c.pod, got, c.errors)
		}
		if got := fmt.Sprint(warnings.Texts); got != c.warnings {
			t.Errorf("%s\nwarns %s\n want %s", c.pod, got, c.warnings)
		}
		w.Free()
	}
}
