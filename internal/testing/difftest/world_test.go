package difftest

import (
	"errors"
	"fmt"

	smdpath "sigs.k8s.io/structured-merge-diff/v4/fieldpath"
	smdmerge "sigs.k8s.io/structured-merge-diff/v4/merge"
	smdschema "sigs.k8s.io/structured-merge-diff/v4/schema"
	smdtyped "sigs.k8s.io/structured-merge-diff/v4/typed"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/typed"
	"github.com/deed-project/deed/value"
)

// world is one schema in both engines.
type world struct {
	schema  *gen.Schema
	types   map[string]*schema.Type
	smd     map[string]smdtyped.ParseableType
	version map[string]string // by the name of the root type
	retired bool              // only the first version still exists
}

// exists reports whether a version exists.
func (w *world) exists(version string) bool {
	return w.types[version] != nil && !(w.retired && version != w.schema.Versions[0].Name)
}

// newWorld prepares a schema for both engines.
func newWorld(s *gen.Schema) (*world, error) {
	compiled, err := schema.Compile(s.Document)
	if err != nil && !s.Open {
		return nil, err
	}
	parser := &smdtyped.Parser{Schema: smdschema.Schema{Types: smdTypes(s.Document)}}
	w := &world{
		schema: s, types: map[string]*schema.Type{}, smd: map[string]smdtyped.ParseableType{}, version: map[string]string{},
	}
	for _, v := range s.Versions {
		t, ok := compiled[v.Root]
		if !ok {
			return nil, fmt.Errorf("no type %q", v.Root)
		}
		w.types[v.Name], w.smd[v.Name], w.version[v.Root] = t, parser.Type(v.Root), v.Name
	}
	return w, nil
}

// start returns an object that does not exist yet, in both engines.
func (w *world) start(filters map[string]gen.Filter) (*deedRun, *smdRun) {
	w.retired = false
	first := w.schema.Versions[0].Name
	d := &deedRun{world: w, live: value.Null(), version: first}
	d.engine = merge.New(merge.Config{Converter: deedConverter{w}, ResetFields: deedFilters(filters)})
	s := &smdRun{world: w, version: first}
	builder := smdmerge.UpdaterBuilder{Converter: smdConverter{w}}
	builder.IgnoredFields, builder.IgnoreFilter = smdFilters(filters)
	s.updater = builder.BuildUpdater()
	return d, s
}

type deedConverter struct{ *world }

func (c deedConverter) Convert(v typed.Value, to string) (typed.Value, error) {
	if !c.exists(to) {
		return typed.Value{}, fmt.Errorf("%w: %q", merge.ErrNoVersion, to)
	}
	from := c.version[v.Type().Name()]
	if from == to {
		return v, nil
	}
	return typed.New(c.schema.Convert(v.Content(), from, to), c.types[to], typed.AllowDuplicates)
}

type smdConverter struct{ *world }

var errNoVersion = errors.New("no such version")

func (c smdConverter) Convert(v *smdtyped.TypedValue, to smdpath.APIVersion) (*smdtyped.TypedValue, error) {
	if !c.exists(string(to)) {
		return nil, errNoVersion
	}
	from := c.version[*v.TypeRef().NamedType]
	if from == string(to) {
		return v, nil
	}
	content, err := value.FromAny(v.AsValue().Unstructured())
	if err != nil {
		return nil, err
	}
	converted := c.schema.Convert(content, from, string(to)).ToAny()
	return c.smd[string(to)].FromUnstructured(converted, smdtyped.AllowDuplicates)
}

func (c smdConverter) IsMissingVersionError(err error) bool { return errors.Is(err, errNoVersion) }
