package fieldpath_test

import (
	"bytes"
	"fmt"
	"testing"

	smd "sigs.k8s.io/structured-merge-diff/v4/fieldpath"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/value"
)

// tree adds paths below the current one.
type tree func(b *fieldpath.Builder)

func leaves(names ...string) tree {
	return func(b *fieldpath.Builder) {
		for _, name := range names {
			paths.Leaf(b, fieldpath.Field(name))
		}
	}
}

// under puts trees below the field called name, which is a member if member says so.
func under(name string, member bool, trees ...tree) tree {
	return below(fieldpath.Field(name), member, trees...)
}

func below(e fieldpath.Element, member bool, trees ...tree) tree {
	return func(b *fieldpath.Builder) {
		paths.Enter(b, e)
		for _, t := range trees {
			t(b)
		}
		paths.Leave(b, member)
	}
}

func times(n int, f func(i int) tree) tree {
	return func(b *fieldpath.Builder) {
		for i := range n {
			f(i)(b)
		}
	}
}

func keyed(name string, v value.Value) fieldpath.Element {
	return fieldpath.Key(fieldpath.KeyField{Name: name, Value: v})
}

// document is a field set as large as those of real managers.
type document struct {
	name string
	set  fieldpath.Set
}

func documents() []document {
	var docs []document
	for _, d := range []struct {
		name string
		tree tree
	}{{"Pod", podTree(4)}, {"Node", nodeTree()}, {"CRD", schemaTree(6)}, {"Large", schemaTree(26)}} {
		var b fieldpath.Builder
		d.tree(&b)
		docs = append(docs, document{d.name, b.Set()})
	}
	return docs
}

func podTree(containers int) tree {
	container := func(i int) tree {
		port := fieldpath.Key(fieldpath.KeyField{Name: "containerPort", Value: value.Int(int64(8080 + i))}, fieldpath.KeyField{Name: "protocol", Value: value.String("TCP")})
		return below(keyed("name", value.String(fmt.Sprintf("sidecar-%d", i))), true,
			under("env", true, below(keyed("name", value.String("POD_NAMESPACE")), true, leaves("name"), under("valueFrom", true, leaves("fieldRef")))),
			leaves("image", "imagePullPolicy", "name"),
			under("ports", true, below(port, true, leaves("containerPort", "name", "protocol"))),
			under("resources", true, under("limits", true, leaves("cpu", "memory")), under("requests", true, leaves("cpu", "memory"))),
			leaves("terminationMessagePath", "terminationMessagePolicy"))
	}
	return func(b *fieldpath.Builder) {
		under("metadata", false, leaves("generateName"), under("labels", true, leaves("app", "pod-template-hash")),
			under("ownerReferences", true, below(keyed("uid", value.String("8a5f1e4b-52b8-4a75-9c3f-3f0f9ad2c1a5")), false)))(b)
		under("spec", false, under("containers", false, times(containers, container)),
			leaves("dnsPolicy", "enableServiceLinks", "restartPolicy", "schedulerName", "securityContext", "terminationGracePeriodSeconds"))(b)
	}
}

func nodeTree() tree {
	condition := func(name string) tree {
		return below(keyed("type", value.String(name)), true, leaves("lastHeartbeatTime", "lastTransitionTime", "message", "reason", "status", "type"))
	}
	return func(b *fieldpath.Builder) {
		under("metadata", false,
			under("annotations", true, leaves("kubeadm.alpha.kubernetes.io/cri-socket", "node.alpha.kubernetes.io/ttl", "volumes.kubernetes.io/controller-managed-attach-detach")),
			under("labels", true, times(24, func(i int) tree { return leaves(fmt.Sprintf("node.example.com/feature-%02d", i)) })))(b)
		under("spec", false, leaves("podCIDR"), under("podCIDRs", true, times(8, func(i int) tree {
			return below(fieldpath.Item(value.String(fmt.Sprintf("10.244.%d.0/24", i))), true)
		})))(b)
		under("status", false,
			under("addresses", true, below(keyed("type", value.String("Hostname")), true, leaves("address", "type")), below(keyed("type", value.String("InternalIP")), true, leaves("address", "type"))),
			under("allocatable", true, leaves("cpu", "ephemeral-storage", "hugepages-1Gi", "hugepages-2Mi", "memory", "pods")),
			under("capacity", true, leaves("cpu", "ephemeral-storage", "hugepages-1Gi", "hugepages-2Mi", "memory", "pods")),
			under("conditions", true, condition("DiskPressure"), condition("MemoryPressure"), condition("NetworkUnavailable"), condition("PIDPressure"), condition("Ready")),
			leaves("images"), under("nodeInfo", false, leaves("architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion",
				"machineID", "operatingSystem", "osImage", "systemUUID")))(b)
	}
}

// schemaTree is like what a controller with nested objects owns.
func schemaTree(n int) tree {
	return under("spec", true, times(n, func(i int) tree {
		return under(fmt.Sprintf("component%02d", i), true,
			under("properties", true, times(10, func(j int) tree {
				return under(fmt.Sprintf("property%c", 'A'+j), true, leaves("description", "format"), under("items", true, leaves("default", "type")),
					leaves("maximum", "nullable", "type", "x-kubernetes-preserve-unknown-fields"))
			})),
			under("required", true, times(5, func(j int) tree {
				return below(fieldpath.Item(value.String(fmt.Sprintf("property%c", 'A'+j))), true)
			})),
			under("versions", true, times(5, func(j int) tree {
				return below(keyed("name", value.String(fmt.Sprintf("v%dbeta1", j))), true, leaves("name", "served", "storage"))
			})))
	}))
}

// halves returns two sets that have about two thirds of s each, and s together.
func halves(s fieldpath.Set) (a, b fieldpath.Set) {
	var x, y fieldpath.Builder
	i := 0
	for p := range s.All() {
		if i%3 != 1 {
			x.Add(p)
		}
		if i%3 != 2 {
			y.Add(p)
		}
		i++
	}
	return x.Set(), y.Set()
}

func smdParse(b *testing.B, text []byte) *smd.Set {
	b.Helper()
	var s smd.Set
	if err := s.FromJSON(bytes.NewReader(text)); err != nil {
		b.Fatal(err)
	}
	return &s
}

func BenchmarkParseSet(b *testing.B) {
	for _, d := range documents() {
		text := d.set.AppendJSON(nil)
		b.Run(d.name+"/deed", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := fieldpath.ParseSet(text); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(d.name+"/smd", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				smdParse(b, text)
			}
		})
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	for _, d := range documents() {
		reference := smdParse(b, d.set.AppendJSON(nil))
		b.Run(d.name+"/deed", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.set.AppendJSON(nil)
			}
		})
		b.Run(d.name+"/smd", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := reference.ToJSON(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFromAny reads maps, and compares them with the set that they were read as.
func BenchmarkFromAny(b *testing.B) {
	for _, d := range documents() {
		content := paths.ToAny(d.set)
		b.Run(d.name+"/read", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, canonical, err := paths.FromAny(content); !canonical {
					b.Fatal(err)
				}
			}
		})
		known, _, err := paths.FromAny(content)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(d.name+"/match", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !paths.MatchesAny(known, content) {
					b.Fatal("another set")
				}
			}
		})
	}
}

func BenchmarkOperations(b *testing.B) {
	for _, op := range []struct {
		name string
		deed func(a, b fieldpath.Set) fieldpath.Set
		smd  func(a, b *smd.Set) *smd.Set
	}{
		{"Union", fieldpath.Set.Union, (*smd.Set).Union},
		{"Intersect", fieldpath.Set.Intersect, (*smd.Set).Intersection},
		{"Minus", fieldpath.Set.Minus, (*smd.Set).Difference},
		{"Without", fieldpath.Set.Without, (*smd.Set).RecursiveDifference},
	} {
		for _, d := range documents() {
			s, t := halves(d.set)
			x, y := smdParse(b, s.AppendJSON(nil)), smdParse(b, t.AppendJSON(nil))
			b.Run(op.name+"/"+d.name+"/deed", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					op.deed(s, t)
				}
			})
			b.Run(op.name+"/"+d.name+"/smd", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					op.smd(x, y)
				}
			})
		}
	}
}
