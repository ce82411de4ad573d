package typed_test

import (
	"os"
	"sync"
	"testing"

	smdpath "sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	smdtyped "sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// rival is one object in both engines. The benchmarks below compare, merge and so on the same objects, and both engines give
// the same answers, which internal/testing/difftest proves. changed differs from object in one label, and copied in nothing; neither
// shares any memory with it.
type rival struct {
	name                    string
	typ                     *schema.Type
	object, copied, changed typed.Value

	smd                              smdtyped.ParseableType
	smdObject, smdCopied, smdChanged *smdtyped.TypedValue
}

// builtinTypes returns the types of Kubernetes in both engines. The file also says what types the kinds have.
var builtinTypes = sync.OnceValues(func() (map[string]*schema.Type, *smdtyped.Parser) {
	text, err := os.ReadFile("../schema/builtin/schema.json")
	check(err)
	file, err := value.Parse(text)
	check(err)
	document := value.Object(value.Member{Name: "types", Value: file.Get("types")})
	d, err := schema.ParseDocument(document)
	check(err)
	compiled, err := schema.Compile(d)
	check(err)
	parser, err := smdtyped.NewParser(smdtyped.YAMLObject(document.AppendJSON(nil)))
	check(err)
	return compiled, parser
})

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// rivals are the objects of testdata/objects.
var rivals = sync.OnceValue(func() []*rival {
	compiled, parser := builtinTypes()
	var out []*rival
	for _, kind := range [][2]string{
		{"pod", "io.k8s.api.core.v1.Pod"},
		{"node", "io.k8s.api.core.v1.Node"},
		{"crd", "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"},
	} {
		r := &rival{name: kind[0], smd: parser.Type(kind[1])}
		r.typ = compiled[kind[1]]
		text, err := os.ReadFile("../testdata/objects/" + kind[0] + ".json")
		check(err)
		v, err := value.Parse(text)
		check(err)
		r.object, r.smdObject = r.both(v)
		r.copied, r.smdCopied = r.both(v)
		labels := v.Get("metadata", "labels").With("example.com/changed", value.String("yes"))
		r.changed, r.smdChanged = r.both(v.With("metadata", v.Get("metadata").With("labels", labels)))
		out = append(out, r)
	}
	return out
})

// both returns v in both engines, in memory of its own.
func (r *rival) both(v value.Value) (typed.Value, *smdtyped.TypedValue) {
	own, err := value.FromAny(v.ToAny())
	check(err)
	deed, err := typed.New(own, r.typ)
	check(err)
	smd, err := r.smd.FromUnstructured(v.ToAny())
	check(err)
	return deed, smd
}

// run runs deed and its rival on each object.
func run(b *testing.B, deed func(*rival), smd func(*rival)) {
	for _, r := range rivals() {
		for _, engine := range []struct {
			name string
			run  func(*rival)
		}{{"deed", deed}, {"smd", smd}} {
			b.Run(r.name+"/"+engine.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					engine.run(r)
				}
			})
		}
	}
}

func BenchmarkCompareEqual(b *testing.B) {
	run(b, func(r *rival) {
		_, err := typed.Compare(r.object, r.copied)
		check(err)
	}, func(r *rival) {
		_, err := r.smdObject.Compare(r.smdCopied)
		check(err)
	})
}

func BenchmarkCompareOneChange(b *testing.B) {
	run(b, func(r *rival) {
		_, err := typed.Compare(r.object, r.changed)
		check(err)
	}, func(r *rival) {
		_, err := r.smdObject.Compare(r.smdChanged)
		check(err)
	})
}

func BenchmarkMergeOneChange(b *testing.B) {
	run(b, func(r *rival) {
		_, err := typed.Merge(r.object, r.changed)
		check(err)
	}, func(r *rival) {
		_, err := r.smdObject.Merge(r.smdChanged)
		check(err)
	})
}

// An apply compares what it has merged with what was there: what Merge shares, Compare need not look at.
func BenchmarkMergeAndCompare(b *testing.B) {
	run(b, func(r *rival) {
		merged, err := typed.Merge(r.object, r.changed)
		check(err)
		_, err = typed.Compare(r.object, merged)
		check(err)
	}, func(r *rival) {
		merged, err := r.smdObject.Merge(r.smdChanged)
		check(err)
		_, err = r.smdObject.Compare(merged)
		check(err)
	})
}

func BenchmarkFields(b *testing.B) {
	run(b, func(r *rival) {
		r.object.Fields()
	}, func(r *rival) {
		_, err := r.smdObject.ToFieldSet()
		check(err)
	})
}

func BenchmarkNew(b *testing.B) {
	run(b, func(r *rival) {
		_, err := typed.New(r.object.Content(), r.typ)
		check(err)
	}, func(r *rival) {
		_, err := smdtyped.AsTyped(r.smdObject.AsValue(), r.smd.Schema, r.smd.TypeRef)
		check(err)
	})
}

func BenchmarkRemove(b *testing.B) {
	path := fieldpath.SetOf(fieldpath.Path{fieldpath.Field("metadata"), fieldpath.Field("labels")},
		fieldpath.Path{fieldpath.Field("status"), fieldpath.Field("conditions")})
	smdSet := smdpath.NewSet(smdpath.MakePathOrDie("metadata", "labels"), smdpath.MakePathOrDie("status", "conditions"))
	run(b, func(r *rival) {
		r.object.Remove(path)
	}, func(r *rival) {
		r.smdObject.RemoveItems(smdSet)
	})
}
