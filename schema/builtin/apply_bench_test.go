package builtin_test

import (
	"testing"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

const benchmarkConfig = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"d","labels":{"app":"web"}},
	"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[
	{"name":"a","image":"a:1","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1","memory":"1Gi"}},
	"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"livenessProbe":{"httpGet":{"port":80}}},{"name":"b","image":"b"}]}}}}`

// BenchmarkApply compares an apply that changes a deployment as a server holds and stores it with the bare merge of
// the same.
func BenchmarkApply(b *testing.B) {
	gvk := schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	served, err := builtin.Config(gvk)
	if err != nil {
		b.Fatal(err)
	}
	typ, _ := builtin.Catalog().Lookup(gvk)
	empty, _ := builtin.Empty(gvk)
	bare := managedfields.Config{GVK: gvk, Types: map[string]*schema.Type{gvk.APIVersion(): typ}, Empty: empty}
	for _, side := range []struct {
		name   string
		config managedfields.Config
	}{{"bare", bare}, {"served", served}} {
		b.Run(side.name, func(b *testing.B) {
			m, err := managedfields.New(side.config)
			if err != nil {
				b.Fatal(err)
			}
			full, err := managedfields.New(served)
			if err != nil {
				b.Fatal(err)
			}
			config := parseObject(b, benchmarkConfig)
			live, err := full.Apply(managedfields.Object{}, config, "alice", false)
			if err != nil {
				b.Fatal(err)
			}
			text := live.AppendJSON(nil)
			change := []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"d"},"spec":{"paused":true}}`)
			b.ReportAllocs()
			for b.Loop() {
				stored, err := managedfields.ParseObject(text)
				if err != nil {
					b.Fatal(err)
				}
				sent, err := managedfields.ParseObject(change)
				if err != nil {
					b.Fatal(err)
				}
				out, err := m.Apply(stored, sent, "bob", false)
				if err != nil {
					b.Fatal(err)
				}
				out.AppendJSON(nil)
			}
		})
	}
}

func parseObject(b *testing.B, text string) managedfields.Object {
	b.Helper()
	o, err := managedfields.ParseObject([]byte(text))
	if err != nil {
		b.Fatal(err)
	}
	return o
}
