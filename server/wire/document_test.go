package wire_test

import (
	"testing"

	"github.com/deed-project/deed/server/wire"
	"github.com/deed-project/deed/value"
)

// TestPartial leaves out the annotations that internal objects have in fields, in the versions that have such annotations.
func TestPartial(t *testing.T) {
	for _, c := range []struct{ apiVersion, kind, annotation, want string }{
		{"apps/v1", "DaemonSet", "deprecated.daemonset.template.generation", `{"name":"a"}`},
		{"apps/v1", "Deployment", "deprecated.deployment.rollback.to", `{"name":"a"}`},
		{"autoscaling/v1", "HorizontalPodAutoscaler", "autoscaling.alpha.kubernetes.io/conditions", `{"name":"a"}`},
		{"autoscaling/v2", "HorizontalPodAutoscaler", "a", `{"annotations":{"a":"1"},"name":"a"}`},
		{"apps/v1", "StatefulSet", "deprecated.daemonset.template.generation",
			`{"annotations":{"deprecated.daemonset.template.generation":"1"},"name":"a"}`},
	} {
		object, err := value.Parse([]byte(`{"apiVersion":"` + c.apiVersion + `","kind":"` + c.kind + `","metadata":{"annotations":{"` +
			c.annotation + `":"1"},"name":"a"}}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := wire.Partial("meta.k8s.io/v1", object).Get("metadata").String(); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.apiVersion, c.kind, got, c.want)
		}
	}
}
