package builtin

import (
	"testing"

	"github.com/deed-project/deed/schema/form"
	"github.com/deed-project/deed/value"
)

// BenchmarkKinds is what reading the data of all kinds takes.
func BenchmarkKinds(b *testing.B) {
	for b.Loop() {
		list, err := value.Parse(writtenKinds)
		if err != nil {
			b.Fatal(err)
		}
		for v := range list.Items() {
			kindOf(v)
		}
	}
}

// BenchmarkForms is what reading the forms and the rules takes, and the form of one kind.
func BenchmarkForms(b *testing.B) {
	for b.Loop() {
		types := form.Parse(writtenForms)
		called := functions
		called.Print = printed
		if err := types.SetRules(defaults, called); err != nil {
			b.Fatal(err)
		}
		t, _ := types.Struct("apps/v1.Deployment")
		if _, err := t.Normalize(value.Object(), form.Held); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHeld is what holding and storing an object takes that stays as it is.
func BenchmarkHeld(b *testing.B) {
	for _, a := range []string{"held", "stored"} {
		b.Run(a, func(b *testing.B) {
			k, object := workload(b)
			for b.Loop() {
				if _, err := k.Held(object); err != nil {
					b.Fatal(err)
				}
				if a == "stored" {
					if _, err := k.Stored(object); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// workload returns a deployment as it is stored.
func workload(b *testing.B) (*Kind, value.Value) {
	b.Helper()
	k, _ := Lookup(gvk("apps", "v1", "Deployment"))
	v, err := value.Parse([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{"selector":{"matchLabels":
		{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"a","image":"a:1","ports":
		[{"containerPort":80}],"resources":{"limits":{"cpu":"1","memory":"1Gi"}},"livenessProbe":{"httpGet":{"port":80}}},
		{"name":"b","image":"b","env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]}]}}}}`))
	if err != nil {
		b.Fatal(err)
	}
	if v, err = k.Held(v); err != nil {
		b.Fatal(err)
	}
	return k, v
}
