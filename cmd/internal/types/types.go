// Package types knows where the type of a kind comes from: definitions of custom resources, OpenAPI
// documents, files with schemas, and those that are built in. A [Library] reads them from files,
// [Types] finds the one that counts, and an [Endpoint] is how objects of a kind are then written.
// It also says in words what a type admits.
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
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/structural"
)

// Any reports whether f names schemas.
func (f *Flags) Any() bool { return len(f.Crds) > 0 || len(f.OpenAPI) > 0 || f.Schema != "" }

// TypeOf returns how objects like o are written. It reports when no schema says.
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

// Flags say which schemas there are besides the built-in ones.
type Flags struct {
	Crds       []string
	OpenAPI    []string
	Schema     string
	TypeName   string
	Schemaless bool
	Verbose    bool
}

// Check refuses flags that make no sense without each other.
func (f *Flags) Check() error {
	switch {
	case f.Schema != "" && f.TypeName == "":
		return errors.New("--schema needs --type, the name of the type in it")
	case f.Schema == "" && f.TypeName != "":
		return errors.New("--type needs --schema, the file that defines it")
	}
	return nil
}

// groupKind names a kind in all its versions.
type groupKind struct{ group, kind string }

// versions has the types of one kind by apiVersion.
type versions map[string]*schema.Type

// kindTypes is what a schema source knows about a kind.
type kindTypes struct {
	From     string // where the types come from, in words
	Versions versions
	// renamed says that versions differ in nothing but their name, so that objects can be converted.
	Renamed bool
	// ClusterScoped says that objects of the kind are known to be in no namespace.
	ClusterScoped bool
	// Subresources are those that the kind has; nil where that is not known.
	Subresources []string
	// Replicas is, by apiVersion, where objects have the number of replicas; nil for a kind without
	// the subresource scale.
	Replicas map[string]fieldpath.Path
	// status has the versions of a custom resource that have the status subresource; nil for other
	// kinds.
	status map[string]bool
	// schemas has, by apiVersion, what the definition of a custom resource says besides types: what
	// is pruned, and defaults.
	schemas map[string]*structural.Schema
	builtIn bool // the kind is Kubernetes' own
	// MadeUp says that no schema describes the kind, and that it is to be treated without one.
	MadeUp bool
	// broken returns why the schema of a version cannot be used; nil for sources without such versions.
	broken func(version string) error
	// unusable is the definition of the kind, when it is defective and that has been reported;
	// there are no versions then.
	unusable *manifest.Object
}

// source is one place to look for the type of a kind.
type source func(schema.GVK) (kindTypes, bool)

// Types finds the type of a kind. The first of these sources that has it counts: --crd, the
// definitions among the objects, those of configurations before live ones, --openapi, --schema, and
// the types that are built in; --schemaless comes last.
type Types struct {
	sources []source
	kinds   []schema.GVK // that are known, in any order, for suggestions
	found   map[endpointID]*Endpoint
	Served  bool                              // whether endpoints do what kinds say besides types, as those of a server
	Bare    bool                              // whether served endpoints leave out defaults and normal forms
	told    func(gvk schema.GVK, from string) // is called for each kind that is found

	schemaless bool // schemas that cannot be used count as admitting everything
}

// endpointID says which endpoint is meant.
type endpointID struct {
	gvk         schema.GVK
	subresource string
}

// Endpoint is how objects of one kind in one version are written.
type Endpoint struct {
	kindTypes
	Typ      *schema.Type
	Manager  *managedfields.FieldManager
	Restores Restoration
	// ResetFields are those that the endpoint does not write.
	ResetFields merge.Filter
	bare        bool // see Types.Bare
}

// Typed reports whether objects are read into a Go type, as those of Kubernetes' own kinds are.
func (e *Endpoint) Typed() bool { return managing.Config(e.Manager).Read != nil && e.builtIn }

// HasSubresource reports whether the kind is known to have a subresource.
func (e *Endpoint) HasSubresource(name string) bool {
	return slices.Contains(e.Subresources, name) || name == StatusName && e.Restores == RestoreRest
}

// Library reads schemas from files.
type Library struct{ *manifest.Loader }

// NewLibrary returns the library whose files l reads.
func NewLibrary(l *manifest.Loader) *Library { return &Library{l} }

// NewTypes reads the schemas that the flags name. objects may hold CustomResourceDefinitions. It
// reports what is wrong and returns nil if any schema cannot be used.
func (c *Library) NewTypes(f Flags, objects ...*manifest.Object) *Types {
	t := &Types{found: map[endpointID]*Endpoint{}, told: func(schema.GVK, string) {}, schemaless: f.Schemaless}
	if f.Verbose {
		t.told = func(gvk schema.GVK, from string) {
			fmt.Fprintf(c.Log, "%s %s: the schema is %s\n", gvk.APIVersion(), gvk.Kind, from)
		}
	}
	defined, ok1 := c.DefinedBy(f.Crds)
	published, ok2 := c.CatalogOf(f.OpenAPI)
	t.sources = append(t.sources, c.definitions(defined), c.definitions(objects),
		catalogSource(published, "published in "+strings.Join(f.OpenAPI, " and ")))
	t.kinds = slices.Concat(kindsDefined(defined), kindsDefined(objects), kindsIn(published), kindsIn(builtin.Catalog()))
	ok3 := true
	if f.Schema != "" {
		var typ *schema.Type
		typ, ok3 = c.TypeIn(f.Schema, f.TypeName)
		t.sources = append(t.sources, everyKind(typ, fmt.Sprintf("type %q in %s", f.TypeName, f.Schema)))
	}
	t.sources = append(t.sources, builtInSource())
	if f.Schemaless {
		t.sources = append(t.sources, madeUp)
	}
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	return t
}

// madeUp is the source for kinds that do without a schema.
func madeUp(gvk schema.GVK) (kindTypes, bool) {
	kind, ok := everyKind(schema.Deduced, "made up from the object (--schemaless)")(gvk)
	kind.MadeUp = true
	return kind, ok
}

// KubernetesVersion is that of the built-in types.
const KubernetesVersion = build.Kubernetes

// VersionsOf returns the types of a kind in the versions of the source that has it in version
// gvk.Version.
func (t *Types) VersionsOf(gvk schema.GVK) versions {
	for _, source := range t.sources {
		if kind, ok := source(gvk); ok && kind.Versions[gvk.APIVersion()] != nil {
			return kind.Versions
		}
	}
	return nil
}

// Of returns how objects of kind gvk are written. The error is a [*noTypeError] if no source has
// the kind in that version, and a [*brokenSchemaError] if the schema of that version cannot be used.
func (t *Types) Of(gvk schema.GVK, config managedfields.Config) (*Endpoint, error) {
	id := endpointID{gvk, config.Subresource}
	if e, ok := t.found[id]; ok {
		return e, nil
	}
	unknown := &noTypeError{gvk: gvk, kinds: t.kinds}
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
		config.GVK, config.Types = gvk, kind.Versions
		restores, err := t.complete(&config, kind)
		if err != nil {
			return nil, err
		}
		manager, err := managedfields.New(config)
		if err != nil {
			return nil, err
		}
		t.told(gvk, kind.From)
		t.found[id] = &Endpoint{
			kindTypes: kind, Typ: typ, Manager: manager, Restores: restores, ResetFields: config.ResetFields[gvk.APIVersion()],
			bare: t.Bare,
		}
		return t.found[id], nil
	}
	return nil, unknown
}
