package builtin_test

import (
	"errors"
	"testing"

	"github.com/deed-project/deed/internal/testing/pathtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/form"
)

// An apply converts numbers as the server does, which an update refuses; what cannot be converted fails with the server's words.
func TestNumbers(t *testing.T) {
	gvk := schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	config, err := builtin.Config(gvk)
	if err != nil {
		t.Fatal(err)
	}
	m, err := managedfields.New(config)
	if err != nil {
		t.Fatal(err)
	}
	object := func(replicas string) managedfields.Object {
		o, err := managedfields.ParseObject([]byte(
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"x","namespace":"d"},"spec":{"replicas":` + replicas + `}}`))
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	out, err := m.Apply(managedfields.Object{}, object("99999999999"), "a", false)
	if n := out.Content.Get("spec", "replicas").Int(); err != nil || n != 1215752191 {
		t.Errorf("an apply of 99999999999 is %d, %v", n, err)
	}
	for _, test := range []struct {
		what string
		do   func() (managedfields.Object, error)
		want string
	}{
		{"an apply of 1.5", func() (managedfields.Object, error) {
			return m.Apply(managedfields.Object{}, object("1.5"), "a", false)
		}, "failed to convert new object (d/x; apps/v1, Kind=Deployment) to proper version: unable to convert unstructured object to " +
			"apps/v1, Kind=Deployment: cannot convert float64 to int32"},
		{"an update to 99999999999", func() (managedfields.Object, error) {
			return m.Update(managedfields.Object{}, object("99999999999"), "a")
		}, `Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal number 99999999999 into Go struct field ` +
			"DeploymentSpec.spec.replicas of type int32"},
	} {
		_, err := test.do()
		var at *form.Error
		if err == nil || err.Error() != test.want || !errors.As(err, &at) || at.Path.String() != ".spec.replicas" {
			t.Errorf("%s: %v, want %s", test.what, err, test.want)
		}
	}
}

// TestReplicasGivePathsAway asks for the replicas of all versions.
func TestReplicasGivePathsAway(t *testing.T) {
	deployments, _ := builtin.Lookup(schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"})
	pathtest.Belong(t, 2, func() any { return deployments.Replicas() })
}
