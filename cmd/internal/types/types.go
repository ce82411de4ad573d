// Package types finds the type of a kind: in definitions of custom resources, OpenAPI documents, schema files, and the built-in types. A
// [Library] reads them from files, [Types] selects the one that counts, and an [Endpoint] writes objects of a kind. The package also
// describes the values of a type in words.
package types

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/build"
	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/ownership"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// Any reports whether f names schemas.
func (f *Flags) Any() bool { return len(f.Crds) > 0 || len(f.OpenAPI) > 0 || f.Schema != "" }

// TypeOf returns the endpoint for objects like o. It returns false, with the reason reported, if no schema describes them.
func (c *Library) TypeOf(o *manifest.Object, types *Types, config managedfields.Config) (*Endpoint, bool) {
	e, err := types.Of(o.GVK(), config)
	if err != nil {
		c.Untyped(o, err)
		return nil, false
	}
	return e, true
}

// Untyped reports err, an error of [Types.Of] about objects like o.
func (c *Library) Untyped(o *manifest.Object, err error) {
	c.Report(notice.Notice{Class: ClassOf(err), Where: o.At("kind"), Subject: o.String(), Text: secret.Open.Error(err)})
}

// ClassOf returns the class of an error of [Types.Of].
func ClassOf(err error) notice.Class {
	var unknown *noTypeError
	var unserved *builtin.UnservedError
	switch {
	case errors.As(err, &unknown):
		return notice.NoSchema
	case errors.As(err, &unserved):
		return notice.Refused
	}
	return notice.BadSchema
}

// Flags names the schemas besides the built-in ones.
type Flags struct {
	Crds       []string
	OpenAPI    []string
	Schema     string
	TypeName   string
	Schemaless bool
	Verbose    bool
	kubernetes *builtin.Release // nil for [KubernetesVersion]
	// Spans says that the release may be two, as in 1.33..1.37: an upgrade of the cluster.
	Spans bool
	later *builtin.Release // the release after the upgrade; nil without one
	names [2]string        // of both, if there are two
}

// Check returns an error if a flag lacks another flag that it needs.
func (f *Flags) Check() error {
	switch {
	case f.Schema != "" && f.TypeName == "":
		return errors.New("--schema needs --type, the name of the type in it")
	case f.Schema == "" && f.TypeName != "":
		return errors.New("--type needs --schema, the file that defines it")
	}
	return nil
}

// release returns the built-in kinds.
func (f *Flags) release() *builtin.Release {
	if f.kubernetes == nil {
		return builtin.Current()
	}
	return f.kubernetes
}

// Minor returns the number of the minor release of Kubernetes that answers, such as 37 for v1.37.
func (f *Flags) Minor() int { return f.release().Minor() }

// SelectRelease selects the release of Kubernetes that has the built-in kinds: see [builtin.ReleaseOf]. The name may be that of two releases
// if f.Spans is set.
func (f *Flags) SelectRelease(name string) (err error) {
	from, to, two := strings.Cut(name, "..")
	if two && !f.Spans {
		return errors.New("only deed plan takes two releases, for what an upgrade changes")
	}
	if f.kubernetes, err = builtin.ReleaseOf(from); err != nil || !two {
		return err
	}
	f.names = [2]string{"v" + strings.TrimPrefix(from, "v"), "v" + strings.TrimPrefix(to, "v")}
	f.later, err = builtin.ReleaseOf(to)
	return err
}

// Releases returns the names of the releases before and after an upgrade, and the flags for the latter one. It returns false if there is no
// upgrade.
func (f *Flags) Releases() (from, to string, after Flags, ok bool) {
	after = *f
	after.kubernetes, after.later = f.later, nil
	return f.names[0], f.names[1], after, f.later != nil
}

// groupKind names a kind in all its versions.
type groupKind struct{ group, kind string }

// versions holds the types of one kind by apiVersion.
type versions map[string]*schema.Type

// kindTypes is the description of a kind in a schema source.
type kindTypes struct {
	From     string // the source of the types, as text
	Versions versions
	// Renamed says that versions differ only in their names, so that objects can be converted.
	Renamed bool
	// ClusterScoped says that objects of the kind have no namespace.
	ClusterScoped bool
	// Subresources holds the subresources of the kind; nil if they are unknown.
	Subresources []string
	// Replicas holds the path of the replicas by apiVersion; nil for a kind without the subresource scale.
	Replicas map[string]fieldpath.Path
	// status holds the versions of a custom resource with the status subresource; nil for other kinds.
	status map[string]bool
	// storage is how a custom resource is stored, with the rules of pruning and the defaults of its versions.
	storage    custom.Storage
	definition value.Value // the CustomResourceDefinition; absent for other kinds
	builtIn    bool        // whether the kind belongs to Kubernetes itself
	// MadeUp says that the kind is treated without a schema, because none describes it.
	MadeUp bool
	// broken returns the reason why the schema of a version is unusable. It is nil for sources without such versions.
	broken func(version string) error
	// unusable is the definition of the kind if it is defective, which has been reported. There are no versions then.
	unusable *manifest.Object
}

// source returns the types of a kind, if it has them.
type source func(schema.GVK) (kindTypes, bool)

// Types finds the type of a kind. The first of these sources that has it counts: --crd, the definitions among the objects (configurations
// before live objects), --openapi, --schema, and the built-in types; --schemaless comes last.
type Types struct {
	sources []source
	kinds   []schema.GVK // the kinds that are defined and published, for suggestions, in any order
	found   map[endpointID]*Endpoint
	Served  bool                              // whether endpoints behave like those of a server, beyond types
	Bare    bool                              // whether served endpoints leave out defaults and normal forms
	onFound func(gvk schema.GVK, from string) // called for each kind that is found
	release *builtin.Release                  // with the built-in kinds, and the behaviour of all kinds

	schemaless bool       // whether unusable schemas count as admitting everything
	validation Validation // see Library.Validation
}

// endpointID identifies an endpoint.
type endpointID struct {
	gvk         schema.GVK
	subresource string
}

// Endpoint writes objects of one kind in one version.
type Endpoint struct {
	kindTypes
	Typ      *schema.Type
	Manager  *managedfields.FieldManager
	Restores Restoration
	// ResetFields holds the fields that the endpoint does not write.
	ResetFields merge.Filter
	bare        bool             // see Types.Bare
	validation  Validation       // see Library.Validation
	custom      CustomValidation // nil for other kinds, and for a version without a usable schema
	release     *builtin.Release
}

// Typed reports whether objects are read into a Go type, like those of built-in kinds.
func (e *Endpoint) Typed() bool { return managing.Config(e.Manager).Read != nil && e.builtIn }

// Warnings returns the warnings about the version of the endpoint, see [Validation]. There are none without one.
func (e *Endpoint) Warnings() []Warning {
	if e.validation == nil || !e.builtIn && e.definition.IsAbsent() {
		return nil
	}
	var out []Warning
	for _, text := range e.validation.Warnings(managing.Config(e.Manager).GVK, e.release, e.definition) {
		out = append(out, Warning{text: secret.RawText(text)})
	}
	return out
}

// Prunes reports whether unknown members of a custom resource are removed, unless its schema preserves them.
func (e *Endpoint) Prunes() bool { return managing.Config(e.Manager).Read != nil && e.Custom() }

// Custom reports whether a CustomResourceDefinition defines the kind.
func (e *Endpoint) Custom() bool { return e.status != nil }

// Conversions returns the types of the kind's versions and the conversions between them, to read entries of other versions than their object.
// They are those of a write. Unless the endpoint [Endpoint.Converts], they only change the version.
func (e *Endpoint) Conversions() ownership.Versions {
	return ownership.Versions{Types: e.Versions, Converter: managing.Config(e.Manager).Converter}
}

// Converts reports whether objects can be converted between several versions: these differ only in their names, or the kind is built in. If
// not, a webhook may convert them.
func (e *Endpoint) Converts() bool { return e.Renamed || e.builtIn && len(e.Versions) > 1 }

// Convert returns o in the version of the endpoint, which must be one that [Endpoint.Converts]. Versions that differ only in their names are left
// to the field manager.
func (e *Endpoint) Convert(o *manifest.Object) (*manifest.Object, error) {
	if e.Renamed {
		return o, nil
	}
	out := *o
	var err error
	out.Content, err = e.Conversions().Converter.Convert(o.Content, managing.Config(e.Manager).GVK.APIVersion())
	return &out, err
}

// HasSubresource reports whether the kind is known to have the subresource.
func (e *Endpoint) HasSubresource(name string) bool {
	return slices.Contains(e.Subresources, name)
}

// Creates reports whether an apply or an update through the endpoint creates an object that is not stored. Through most subresources, it
// creates none.
func (e *Endpoint) Creates(apply bool) bool {
	subresource := managing.Config(e.Manager).Subresource
	if subresource == "" {
		return true
	}
	k, ok := e.kind()
	return ok && subresource == StatusName && e.validation != nil && e.validation.StatusCreates(k, apply)
}

// Library reads schemas from files.
type Library struct {
	*manifest.Loader
	// Validation is that of the server for objects of built-in kinds; nil if nothing is validated beyond types.
	Validation Validation
}

// NewLibrary returns a library that reads files with l, without a [Validation].
func NewLibrary(l *manifest.Loader) *Library { return &Library{Loader: l} }

// NewTypes reads the schemas of the flags, and the CustomResourceDefinitions among objects. It reports unusable schemas, and then returns
// nil.
func (c *Library) NewTypes(f Flags, objects ...*manifest.Object) *Types {
	t := &Types{
		found: map[endpointID]*Endpoint{}, onFound: func(schema.GVK, string) {}, schemaless: f.Schemaless,
		release: f.release(), validation: c.Validation,
	}
	if f.Verbose {
		t.onFound = func(gvk schema.GVK, from string) {
			fmt.Fprintf(c.Log, "%s %s: the schema is %s\n", gvk.APIVersion(), gvk.Kind, from)
		}
	}
	defined, ok1 := c.DefinedBy(f.Crds)
	published, ok2 := c.CatalogOf(f.OpenAPI)
	t.sources = append(t.sources, c.definitions(defined), c.definitions(objects),
		catalogSource(published, "published in "+strings.Join(f.OpenAPI, " and ")))
	t.kinds = slices.Concat(kindsDefined(defined), kindsDefined(objects), kindsIn(published))
	ok3 := true
	if f.Schema != "" {
		var typ *schema.Type
		typ, ok3 = c.TypeIn(f.Schema, f.TypeName)
		t.sources = append(t.sources, everyKind(typ, fmt.Sprintf("type %q in %s", f.TypeName, f.Schema)))
	}
	t.sources = append(t.sources, builtInSource(t.release))
	if f.Schemaless {
		t.sources = append(t.sources, madeUp)
	}
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	return t
}

// Apart returns types from the same sources with endpoints of their own, for reading objects beside the writes through t.
func (t *Types) Apart() *Types {
	other := *t
	other.found = map[endpointID]*Endpoint{}
	return &other
}

// madeUp is the source for kinds without a schema.
func madeUp(gvk schema.GVK) (kindTypes, bool) {
	kind, ok := everyKind(schema.Deduced, "made up from the object (--schemaless)")(gvk)
	kind.MadeUp = true
	return kind, ok
}

// KubernetesVersion is the version of the built-in types.
const KubernetesVersion = build.Kubernetes

// VersionsOf returns the types of a kind by version, from the source that has gvk.
func (t *Types) VersionsOf(gvk schema.GVK) versions {
	for _, source := range t.sources {
		if kind, ok := source(gvk); ok && kind.Versions[gvk.APIVersion()] != nil {
			return kind.Versions
		}
	}
	return nil
}

// Of returns the endpoint for objects of kind gvk. The error is a [*noTypeError] if no source has the kind in that version, and a
// [*brokenSchemaError] if the schema of that version is unusable. It is a [*builtin.UnservedError] if the release does not serve a built-in kind
// in that version, and has no type for it.
func (t *Types) Of(gvk schema.GVK, config managedfields.Config) (*Endpoint, error) {
	id := endpointID{gvk, config.Subresource}
	if e, ok := t.found[id]; ok {
		return e, nil
	}
	unknown := &noTypeError{gvk: gvk, types: t}
	for _, source := range t.sources {
		kind, ok := source(gvk)
		if !ok {
			continue
		}
		if kind.unusable != nil {
			return nil, secret.Errorf("the definition of %s at %v cannot be used", gvk.Kind, kind.unusable.At())
		}
		typ, ok := kind.Versions[gvk.APIVersion()]
		if !ok {
			unknown.others = append(unknown.others, kind.Versions)
			continue
		}
		if kind.broken != nil {
			err := kind.broken(gvk.Version)
			if err != nil && !t.schemaless {
				return nil, err
			}
			kind.MadeUp = err != nil
		}
		config.GVK, config.Types, config.Profile = gvk, kind.Versions, t.release.Profile()
		restores, err := t.complete(&config, kind)
		if err != nil {
			return nil, err
		}
		if kind.status != nil {
			kind.Subresources = kind.declared(gvk.APIVersion())
		}
		manager, err := managedfields.New(config)
		if err != nil {
			return nil, err
		}
		t.onFound(gvk, kind.From)
		e := &Endpoint{
			kindTypes: kind, Typ: typ, Manager: manager, Restores: restores, ResetFields: config.ResetFields[gvk.APIVersion()],
			bare: t.Bare, validation: t.validation, release: t.release,
		}
		if t.validation != nil && e.Custom() && !e.MadeUp {
			e.custom = t.validation.Custom(kind.definition, gvk.Version)
		}
		t.found[id] = e
		return e, nil
	}
	if _, typed := builtin.Type(gvk); typed { // in another release
		k, _ := t.release.Lookup(gvk)
		if _, err := k.Config(""); err != nil {
			return nil, err
		}
	}
	return nil, unknown
}
