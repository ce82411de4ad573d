package value

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

// podText is a Pod of 2.7 kB, as kube-apiserver prints one, without managedFields.
func podText(tb testing.TB) []byte {
	tb.Helper()
	text, err := os.ReadFile("testdata/pod.json")
	if err != nil {
		tb.Fatal(err)
	}
	return []byte(strings.TrimSpace(string(text)))
}

// crdText makes what a CustomResourceDefinition of 100 kB mostly is: a schema, with a description
// for each property.
func crdText() []byte {
	var properties func(depth, width int) string
	properties = func(depth, width int) string {
		if depth == 0 {
			return `{"description":"How many of the \"replicas\" there are to be.\nDefaults to 1.","format":"int32","minimum":0,"type":"integer"}`
		}
		var b strings.Builder
		b.WriteString(`{"description":"Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md","properties":{`)
		for i := range width {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"property%d%d":%s`, depth, i, properties(depth-1, width))
		}
		return b.String() + `},"required":["property10"],"type":"object","x-kubernetes-preserve-unknown-fields":true}`
	}
	return []byte(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.com"},` +
		`"spec":{"group":"example.com","versions":[{"name":"v1","schema":{"openAPIV3Schema":` + properties(4, 4) + `},"served":true},` +
		`{"name":"v1beta1","schema":{"openAPIV3Schema":` + properties(4, 4) + `},"served":true}]}}`)
}

// eachText runs a benchmark on every sample text.
func eachText(b *testing.B, run func(b *testing.B, text []byte)) {
	samples := []struct {
		name string
		text []byte
	}{{"pod", podText(b)}, {"crd", crdText()}}
	for _, s := range samples {
		b.Run(s.name, func(b *testing.B) { run(b, s.text) })
	}
}

// rivals runs ours and theirs as sub-benchmarks over the same n bytes.
func rivals(b *testing.B, n int, ours, theirs func() error) {
	for _, r := range []struct {
		name string
		run  func() error
	}{{"deed", ours}, {"encoding-json", theirs}} {
		b.Run(r.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(n))
			for b.Loop() {
				if err := r.run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func mustParse(tb testing.TB, text []byte) Value {
	tb.Helper()
	v, err := Parse(text)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func BenchmarkParse(b *testing.B) {
	eachText(b, func(b *testing.B, text []byte) {
		rivals(b, len(text), func() error {
			_, err := Parse(text)
			return err
		}, func() error {
			var v any
			return json.Unmarshal(text, &v)
		})
	})
}

func BenchmarkAppendJSON(b *testing.B) {
	eachText(b, func(b *testing.B, text []byte) {
		v := mustParse(b, text)
		held := v.ToAny()
		var buffer []byte
		rivals(b, len(text), func() error {
			buffer = v.AppendJSON(buffer[:0])
			return nil
		}, func() error {
			_, err := json.Marshal(held)
			return err
		})
	})
}

func BenchmarkFromAny(b *testing.B) {
	eachText(b, func(b *testing.B, text []byte) {
		held := mustParse(b, text).ToAny()
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := FromAny(held); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkLookups does what nobody can do without who reads two large documents that are held as
// maps, and nothing else: it looks up their members and compares them with what is known. It says
// what growth is that of maps.
func BenchmarkLookups(b *testing.B) {
	for _, fields := range []int{10_000, 100_000} {
		var known [][]Member
		var maps [2][]map[string]any
		for i := range fields / 10 {
			var members []Member
			for j := range 10 {
				members = append(members, Member{fmt.Sprint("field", j), String(fmt.Sprint("value ", i*10+j))})
			}
			known = append(known, members)
		}
		for side := range maps {
			for _, members := range known {
				var held map[string]any
				if err := json.Unmarshal(Object(members...).AppendJSON(nil), &held); err != nil {
					b.Fatal(err)
				}
				maps[side] = append(maps[side], held)
			}
		}
		b.Run(fmt.Sprint(fields), func(b *testing.B) {
			for b.Loop() {
				for _, held := range maps {
					for i, members := range known {
						for _, m := range members {
							if text, _ := held[i][m.Name].(string); text != m.Value.Str() {
								b.Fatalf("%q, want %q", text, m.Value.Str())
							}
						}
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*fields), "ns/field")
		})
	}
}

// BenchmarkDecoderFromAny converts the same document again.
func BenchmarkDecoderFromAny(b *testing.B) {
	eachText(b, func(b *testing.B, text []byte) {
		like := mustParse(b, text)
		held := like.ToAny()
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if _, err := (&Decoder{Last: like}).FromAny(held); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkToAny(b *testing.B) {
	eachText(b, func(b *testing.B, text []byte) {
		v := mustParse(b, text)
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			v.ToAny()
		}
	})
}

func BenchmarkEqual(b *testing.B) {
	eachText(b, func(b *testing.B, text []byte) {
		v, clone := mustParse(b, text), mustParse(b, text)
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if !v.Equal(clone) {
				b.Fatal("a clone is not equal")
			}
		}
	})
}

func BenchmarkCompare(b *testing.B) {
	eachText(b, func(b *testing.B, text []byte) {
		v, clone := mustParse(b, text), mustParse(b, text)
		b.ReportAllocs()
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if Compare(v, clone) != 0 {
				b.Fatal("a clone is not equal")
			}
		}
	})
}

// BenchmarkRetained reports how many bytes a parsed document keeps alive for each byte of its text.
func BenchmarkRetained(b *testing.B) {
	eachText(b, func(b *testing.B, text []byte) {
		const copies = 100
		held := make([]Value, copies)
		var before, after runtime.MemStats
		for b.Loop() {
			clear(held)
			runtime.GC()
			runtime.ReadMemStats(&before)
			for i := range held {
				held[i] = mustParse(b, text)
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
		}
		b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/float64(copies*len(text)), "bytes/byte")
		runtime.KeepAlive(held)
	})
}
