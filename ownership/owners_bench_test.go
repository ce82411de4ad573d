package ownership_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/deed-project/deed/internal/testing/kindtest"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/ownership"
)

// bigThing is a thing with 100 containers of 4 ports each, which three managers own.
func bigThing(b *testing.B) managedfields.Object {
	b.Helper()
	var containers []string
	for i := range 100 {
		containers = append(containers, fmt.Sprintf(
			`{"name":"c%d","image":"i","ports":[{"port":1,"hostPort":1},{"port":2,"hostPort":1},{"port":3,"hostPort":1},{"port":4,"hostPort":1}]}`, i))
	}
	m := kindtest.Manager(nil)
	spec := `"spec":{"args":["-a","-b"],"containers":[` + strings.Join(containers, ",") + `]}`
	live := kindtest.Apply(b, m, managedfields.Object{}, "ann", spec)
	live = kindtest.Apply(b, m, live, "bob", spec)
	return kindtest.Update(b, m, live, "eve", strings.ReplaceAll(spec, `"image":"i"`, `"image":"j"`))
}

func BenchmarkOwners(b *testing.B) {
	o := bigThing(b)
	parts := 0
	for b.Loop() {
		seq, err := ownership.Owners(o, kindtest.Type, nil)
		if err != nil {
			b.Fatal(err)
		}
		parts = 0
		for range seq {
			parts++
		}
	}
	b.ReportMetric(float64(parts), "parts")
}

func BenchmarkCheck(b *testing.B) {
	o := bigThing(b)
	for b.Loop() {
		if found := ownership.Check(o, checkConfig); len(found) > 0 {
			b.Fatal(found)
		}
	}
}
