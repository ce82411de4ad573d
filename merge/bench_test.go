package merge_test

import (
	"os"
	"strconv"
	"sync"
	"testing"

	smdpath "sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	smdmerge "sigs.k8s.io/structured-merge-diff/v4/merge"
	smdtyped "sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// rival is one object in both engines, which are asked for the same. copied is equal to object, and changed differs from
// it in one label; neither shares any memory with it.
type rival struct {
	typ                     *schema.Type
	object, copied, changed typed.Value
	engine                  *merge.Engine

	smd                              smdtyped.ParseableType
	smdObject, smdCopied, smdChanged *smdtyped.TypedValue
	updater                          *smdmerge.Updater
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// builtinTypes returns the types of Kubernetes in both engines.
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

// newRival reads an object of testdata/objects.
func newRival(file, typeName string) *rival {
	compiled, parser := builtinTypes()
	r := &rival{smd: parser.Type(typeName), engine: merge.New(merge.Config{})}
	r.typ = compiled[typeName]
	r.updater = (&smdmerge.UpdaterBuilder{Converter: sameVersion{}}).BuildUpdater()
	text, err := os.ReadFile("../testdata/objects/" + file)
	check(err)
	v, err := value.Parse(text)
	check(err)
	r.object, r.smdObject = r.both(v)
	r.copied, r.smdCopied = r.both(v)
	labels := v.Get("metadata", "labels").With("example.com/changed", value.String("yes"))
	r.changed, r.smdChanged = r.both(v.With("metadata", v.Get("metadata").With("labels", labels)))
	return r
}

type sameVersion struct{}

func (sameVersion) Convert(v *smdtyped.TypedValue, _ smdpath.APIVersion) (*smdtyped.TypedValue, error) {
	return v, nil
}
func (sameVersion) IsMissingVersionError(error) bool { return false }

func (r *rival) both(v value.Value) (typed.Value, *smdtyped.TypedValue) {
	own, err := value.FromAny(v.ToAny())
	check(err)
	deed, err := typed.New(own, r.typ)
	check(err)
	smd, err := r.smd.FromUnstructured(v.ToAny())
	check(err)
	return deed, smd
}

// owners returns n managers that have all applied the whole object, in both engines.
func (r *rival) owners(n int) (merge.Managers, smdpath.ManagedFields) {
	var managers merge.Managers
	smdManagers := smdpath.ManagedFields{}
	smdSet, err := r.smdObject.ToFieldSet()
	check(err)
	for i := range n {
		name := "m" + strconv.Itoa(i)
		managers = merging.With(managers, merge.Entry{
			Manager: merge.Manager{Name: name, Operation: merge.Apply}, APIVersion: "v1", Fields: r.object.Fields(),
		})
		smdManagers[name] = smdpath.NewVersionedSet(smdSet, "v1", true)
	}
	return managers, smdManagers
}

// race runs both engines on a Pod and a Node with 1, 3 and 10 managers.
func race(b *testing.B, deed func(*rival, merge.Managers), smd func(*rival, smdpath.ManagedFields)) {
	for _, kind := range []string{"Pod", "Node"} {
		r := newRival(map[string]string{"Pod": "pod.json", "Node": "node.json"}[kind], "io.k8s.api.core.v1."+kind)
		for _, n := range []int{1, 3, 10} {
			managers, smdManagers := r.owners(n)
			name := kind + "/" + strconv.Itoa(n) + "_managers"
			b.Run(name+"/deed", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					deed(r, managers)
				}
			})
			b.Run(name+"/smd", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					smd(r, smdManagers)
				}
			})
		}
	}
}

func (r *rival) apply(config typed.Value, managers merge.Managers) {
	plan, err := r.engine.Apply(merge.Request{
		Live: r.object, Object: config, Managers: managers, Manager: merge.Manager{Name: "m0", Operation: merge.Apply}, APIVersion: "v1",
	})
	check(err)
	plan.Force()
}

func (r *rival) smdApply(config *smdtyped.TypedValue, managers smdpath.ManagedFields) {
	_, _, err := r.updater.Apply(r.smdObject, config, "v1", managers, "m0", true)
	check(err)
}

func BenchmarkApplyOneChange(b *testing.B) {
	race(b, func(r *rival, managers merge.Managers) { r.apply(r.changed, managers) },
		func(r *rival, managers smdpath.ManagedFields) { r.smdApply(r.smdChanged, managers) })
}

func BenchmarkApplyNothing(b *testing.B) {
	race(b, func(r *rival, managers merge.Managers) { r.apply(r.copied, managers) },
		func(r *rival, managers smdpath.ManagedFields) { r.smdApply(r.smdCopied, managers) })
}

func BenchmarkUpdateOneChange(b *testing.B) {
	race(b, func(r *rival, managers merge.Managers) {
		_, err := r.engine.Update(merge.Request{
			Live: r.object, Object: r.changed, Managers: managers, APIVersion: "v1",
			Manager: merge.Manager{Name: "editor", Operation: merge.Update, APIVersion: "v1"},
		})
		check(err)
	}, func(r *rival, managers smdpath.ManagedFields) {
		_, _, err := r.updater.Update(r.smdObject, r.smdChanged, "v1", managers, "editor")
		check(err)
	})
}
