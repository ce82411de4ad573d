package peer

import (
	"errors"
	"testing"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// What an apply came to is converted by other rules than JSON text is read by: numbers are converted as Go converts them.
func TestApply(t *testing.T) {
	k, _ := builtin.Lookup(schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
	for _, spec := range []map[string]any{
		{"replicas": int64(3)}, {"replicas": 1.5}, {"replicas": 2.0}, {"replicas": int64(99999999999)}, {"replicas": int64(-1 << 40)},
		{"replicas": "x"}, {"replicas": true}, {"paused": int64(1)}, {"paused": "x"},
		{"strategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": 1.5}}},
		{"strategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": int64(99999999999)}}},
		{"strategy": map[string]any{"rollingUpdate": map[string]any{"maxSurge": true}}},
		{"strategy": map[string]any{"type": int64(7)}}, {"strategy": map[string]any{"type": 1.5}}, {"strategy": map[string]any{"type": true}},
		{"strategy": "x"}, {"selector": []any{}}, {"template": int64(1)},
		{"template": map[string]any{"metadata": map[string]any{"creationTimestamp": "x"}}},
		{"template": map[string]any{"metadata": map[string]any{"creationTimestamp": int64(7)}}},
		{"template": map[string]any{"metadata": map[string]any{"labels": map[string]any{"a": int64(7)}}}},
		{"template": map[string]any{"spec": map[string]any{"containers": map[string]any{}}}},
		{"template": map[string]any{"spec": map[string]any{"overhead": map[string]any{"cpu": "x"}}}},
		{"template": map[string]any{"spec": map[string]any{"overhead": map[string]any{"cpu": 1.5}}}},
		{"template": map[string]any{"spec": map[string]any{"overhead": map[string]any{"cpu": true}}}},
	} {
		object := map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": "x"}, "spec": spec}
		want, wrong := Apply(gvkOf(k), object)
		v, err := value.FromAny(object)
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.Form().Normalize(v, form.Held|form.Converted)
		var refused *form.Error
		switch {
		case wrong == nil && err == nil:
			if !equal(t, "applied", want, got) {
				t.Logf("spec: %v", spec)
			}
		case wrong == nil || !errors.As(err, &refused) || refused.Converting() != wrong.Error():
			t.Errorf("%v: deed says %v, the converter %v", spec, refused.Converting(), wrong)
		}
	}
}
