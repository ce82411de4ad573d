package builtin_test

import (
	"testing"
	"time"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

const benchmarkConfig = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"d","labels":{"app":"web"}},
	"spec":{"replicas":3,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[
	{"name":"a","image":"a:1","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1","memory":"1Gi"}},
	"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],"livenessProbe":{"httpGet":{"port":80}}},{"name":"b","image":"b"}]}}}}`

// BenchmarkApply compares an apply that changes a deployment as a server holds and stores it with the bare merge of
// the same: both in turns, since a machine is not as fast at all times. It reports the time of each and their ratio.
func BenchmarkApply(b *testing.B) {
	gvk := schema.GVK{Group: "apps", Version: "v1", Kind: "Deployment"}
	served, err := builtin.Config(gvk)
	if err != nil {
		b.Fatal(err)
	}
	typ, _ := builtin.Catalog().Lookup(gvk)
	empty, _ := builtin.Empty(gvk)
	bare := managedfields.Config{GVK: gvk, Types: map[string]*schema.Type{gvk.APIVersion(): typ}, Empty: empty}

	applyBare, applyServed := applier(b, bare, served), applier(b, served, served)
	var timeBare, timeServed time.Duration
	for b.Loop() {
		timeBare += applyBare()
		timeServed += applyServed()
		timeServed += applyServed()
		timeBare += applyBare()
	}
	runs := float64(2 * b.N * appliesOfRun)
	b.ReportMetric(float64(timeBare.Nanoseconds())/runs, "ns/bare")
	b.ReportMetric(float64(timeServed.Nanoseconds())/runs, "ns/served")
	b.ReportMetric(float64(timeServed)/float64(timeBare), "served/bare")
}

// appliesOfRun is how many applies are timed at a time.
const appliesOfRun = 20

// applier returns a function that has a field manager apply a change, from text to text, and says how long that took. The
// live object is made by a field manager for create.
func applier(b *testing.B, config, create managedfields.Config) func() time.Duration {
	manager, err := managedfields.New(config)
	if err != nil {
		b.Fatal(err)
	}
	creator, err := managedfields.New(create)
	if err != nil {
		b.Fatal(err)
	}
	live, err := creator.Apply(managedfields.Object{}, parseObject(b, []byte(benchmarkConfig)), "alice", false)
	if err != nil {
		b.Fatal(err)
	}
	text := live.AppendJSON(nil)
	change := []byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"d"},"spec":{"paused":true}}`)
	return func() time.Duration {
		start := time.Now()
		for range appliesOfRun {
			out, err := manager.Apply(parseObject(b, text), parseObject(b, change), "bob", false)
			if err != nil {
				b.Fatal(err)
			}
			out.AppendJSON(nil)
		}
		return time.Since(start)
	}
}

func parseObject(b *testing.B, text []byte) managedfields.Object {
	b.Helper()
	o, err := managedfields.ParseObject(text)
	if err != nil {
		b.Fatal(err)
	}
	return o
}
