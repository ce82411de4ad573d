package histories

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	smdpath "sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/fieldpath"
	deed "github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/oracle/peer"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// Endpoint is the target of a write.
type Endpoint struct {
	APIVersion  string
	Subresource string
}

// World is a kind of object with its versions and engines. One goroutine at a time may use it.
type World struct {
	Name     string // for [Open]
	CRD      []byte // the definition of a custom resource, as JSON; nil for built-in kinds
	Kind     string
	Versions []string                // served versions, by apiVersion
	Types    map[string]*schema.Type // by apiVersion
	Seeds    map[string][]value.Value

	// Schemas are the OpenAPI v3 definitions of a custom resource, as the reference makes them from CRD. Preserve reports whether CRD
	// preserves all unknown fields.
	Schemas  map[string]*spec.Schema
	Preserve bool

	// Profile is the release that deed's engines behave like.
	Profile deed.Profile

	peerTypes managedfields.TypeConverter
	structs   *structs // nil for unstructured objects
	resets    map[string]reset
	without   string            // the removed version
	lesser    map[string]*World // the worlds without a version, by version
	engines   map[Endpoint]*engines
}

// reset has the fields that a subresource does not write, in the form of each engine.
type reset struct {
	peer map[smdpath.APIVersion]smdpath.Filter
	deed map[string]merge.Filter
}

// engines are the engines of one endpoint.
type engines struct {
	peer   *peer.Peer
	dropIn *peer.Peer // deed with the methods and arguments of the reference
	deed   *deed.FieldManager
	fail   error // of deed's hooks, which cannot return errors

	decoder deed.Decoder // of all objects that deed gets as maps
}

// Open returns the world with a name. crd is the definition of a custom resource, and nil for built-in kinds.
func Open(name string, crd []byte) (*World, error) {
	switch {
	case crd != nil:
		return openCustom(name, crd)
	case slices.Contains(structWorlds, name):
		return openStructs(name)
	}
	return openUnstructured(name)
}

// As returns the same world with deed's engines as of a release.
func (w *World) As(r *builtin.Release) *World {
	out := *w
	out.Profile, out.engines, out.lesser = r.Profile(), map[Endpoint]*engines{}, nil
	if w.CRD != nil {
		return &out
	}
	out.Types = map[string]*schema.Type{}
	for _, version := range w.Versions {
		if t, ok := r.Type(schema.ParseGVK(version, w.Kind)); ok {
			out.Types[version] = t
		}
	}
	return &out
}

// Subresources returns the subresources through which the object can be written; the empty one is the object itself.
func (w *World) Subresources() []string {
	var out []string
	for name := range w.resets {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Without returns the world after a version is removed: it has no endpoint and no type. The world must be one of custom resources with all
// versions.
func (w *World) Without(apiVersion string) (*World, error) {
	if w.CRD == nil || w.without != "" || len(w.Versions) < 2 {
		return nil, fmt.Errorf("%s cannot lose version %s", w.Name, apiVersion)
	}
	if known, ok := w.lesser[apiVersion]; ok {
		return known, nil
	}
	out, err := openCustomWithout(w.Name, w.CRD, apiVersion)
	if err != nil {
		return nil, err
	}
	out.Profile = w.Profile
	if w.lesser == nil {
		w.lesser = map[string]*World{}
	}
	w.lesser[apiVersion] = out
	return out, nil
}

// at returns the engines of an endpoint.
func (w *World) at(e Endpoint) (*engines, error) {
	if known, ok := w.engines[e]; ok {
		return known, nil
	}
	resets, ok := w.resets[e.Subresource]
	if !ok || !slices.Contains(w.Versions, e.APIVersion) {
		return nil, fmt.Errorf("%s has no endpoint %v", w.Name, e)
	}
	out := &engines{}
	gvk := schema.ParseGVK(e.APIVersion, w.Kind)
	ask := peer.Config{
		GVK: gvkschema.GroupVersionKind(gvk), Subresource: e.Subresource, ResetFields: resets.peer, Types: w.peerTypes,
		Custom: w.CRD != nil,
	}
	config := deed.Config{GVK: gvk, Types: w.Types, Subresource: e.Subresource, ResetFields: resets.deed, Profile: w.Profile}
	if w.structs != nil {
		ask.Scheme, ask.Hub = w.structs.scheme, w.structs.hub
		w.structs.configure(&config, out)
	}
	var err error
	if out.peer, err = peer.New(ask); err != nil {
		return nil, err
	}
	ask.DropIn = true
	if out.dropIn, err = peer.New(ask); err != nil {
		return nil, err
	}
	if out.deed, err = deed.New(config); err != nil {
		return nil, err
	}
	w.engines[e] = out
	return out, nil
}

// Hub returns the apiVersion in which objects are stored between writes through e.
func (w *World) Hub(e Endpoint) string {
	if w.structs != nil {
		return w.structs.hub.String()
	}
	return e.APIVersion
}

// Admit returns object as a server holds it after decoding at e: in the version of [World.Hub]. A struct adds defaults and drops fields
// that it cannot hold. It fails if every server would refuse object.
func (w *World) Admit(e Endpoint, object value.Value) (value.Value, error) {
	if w.structs != nil {
		return w.structs.admit(object)
	}
	return object, nil
}

// held returns a whole object in the form in which the world holds it, or an error.
func (w *World) held(text []byte) ([]byte, error) {
	object, err := value.Parse(text)
	if err != nil {
		return nil, err
	}
	apiVersion := object.Get("apiVersion").Str()
	known := slices.Contains(w.Versions, apiVersion) || w.without != "" && apiVersion == w.without
	if !known || object.Get("kind").Str() != w.Kind {
		return nil, fmt.Errorf("%s is no object of %s", text, w.Name)
	}
	if w.structs == nil {
		return text, nil
	}
	object, err = w.structs.through(object, apiVersion, func(runtime.Object) {})
	return object.AppendJSON(nil), err
}

// served returns a stored object as a write through e gets it.
func (w *World) served(e Endpoint, object value.Value) value.Value {
	if w.structs != nil || object.IsAbsent() {
		return object
	}
	return object.With("apiVersion", value.String(e.APIVersion))
}

// Seen returns a stored object in the version of e, as a client gets it.
func (w *World) Seen(e Endpoint, object value.Value) (value.Value, error) {
	if w.structs != nil {
		return w.structs.convert(object, e.APIVersion)
	}
	return w.served(e, object), nil
}

// excluding returns the reset that keeps the named members of the root out of every version.
func excluding(versions []string, names ...string) reset {
	var paths []fieldpath.Path
	excluded := smdpath.NewSet()
	for _, name := range names {
		paths = append(paths, fieldpath.Path{fieldpath.Field(name)})
		excluded.Insert(smdpath.MakePathOrDie(name))
	}
	out := reset{peer: map[smdpath.APIVersion]smdpath.Filter{}, deed: map[string]merge.Filter{}}
	for _, v := range versions {
		out.peer[smdpath.APIVersion(v)] = smdpath.NewExcludeSetFilter(excluded)
		out.deed[v] = merge.Filter{Exclude: fieldpath.SetOf(paths...)}
	}
	return out
}

// including returns the reset that keeps all but spec/name and its parts, for every name, out of one version.
func including(version string, names ...string) reset {
	var prefixes []fieldpath.Path
	var matchers []*smdpath.SetMatcher
	for _, name := range names {
		prefixes = append(prefixes, fieldpath.Path{fieldpath.Field("spec"), fieldpath.Any(), fieldpath.Field(name)})
		matchers = append(matchers, smdpath.MakePrefixMatcherOrDie("spec", smdpath.MatchAnyPathElement(), name))
	}
	pattern := fieldpath.PatternOf(prefixes...)
	return reset{
		peer: map[smdpath.APIVersion]smdpath.Filter{smdpath.APIVersion(version): smdpath.NewIncludeMatcherFilter(matchers...)},
		deed: map[string]merge.Filter{version: {Include: &pattern}},
	}
}
