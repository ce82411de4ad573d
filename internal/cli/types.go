package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
)

// schemaFlags say which schemas there are besides the built-in ones.
type schemaFlags struct {
	crds       []string
	openAPI    []string
	schema     string
	typeName   string
	schemaless bool
	verbose    bool
}

func registerSchemas(flags *pflag.FlagSet, f *schemaFlags) {
	flags.StringArrayVar(&f.crds, "crd", nil,
		"`file` or directory with CustomResourceDefinitions; repeatable. Those among the objects are used anyway")
	flags.StringArrayVar(&f.openAPI, "openapi", nil,
		"`file` or directory with OpenAPI documents, v2 or v3, of an API server; repeatable")
	flags.StringVar(&f.schema, "schema", "",
		"`file` with a schema in the form of structured-merge-diff, for kinds that --crd and --openapi lack")
	flags.StringVar(&f.typeName, "type", "", "the `name` of the type in --schema that such kinds have")
	flags.BoolVar(&f.schemaless, "schemaless", false,
		"treat kinds that no schema describes as objects whose lists are replaced as a whole")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "say on standard error which schema describes each kind")
}

// check refuses flags that make no sense without each other.
func (f *schemaFlags) check() error {
	switch {
	case f.schema != "" && f.typeName == "":
		return errors.New("--schema needs --type, the name of the type in it")
	case f.schema == "" && f.typeName != "":
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
	from     string // where the types come from, in words
	versions versions
	// renamed says that versions differ in nothing but their name, so that objects can be converted.
	renamed bool
	// status has the versions of a custom resource that have the status subresource; nil for other kinds.
	status map[string]bool
	// warn says what is odd about the type of a version that is used. nil says nothing.
	warn func(version string)
	// unusable is the definition of the kind, when it is defective and that has been reported; there are no versions then.
	unusable *object
}

// source is one place to look for the type of a kind.
type source func(schema.GVK) (kindTypes, bool)

// types finds the type of a kind. The first of these sources that has it counts: --crd, the definitions among the objects,
// those of configurations before live ones, --openapi, --schema, and the types that are built in; --schemaless comes last.
type types struct {
	sources []source
	found   map[endpointID]*endpoint
	served  bool                              // whether endpoints do what definitions say besides types, as those of a server
	told    func(gvk schema.GVK, from string) // is called for each kind that is found
}

// endpointID says which endpoint is meant.
type endpointID struct {
	gvk         schema.GVK
	subresource string
}

// endpoint is how objects of one kind in one version are written.
type endpoint struct {
	kindTypes
	typ      *schema.Type
	manager  *managedfields.FieldManager
	restores restoration
}

// library reads schemas from files.
type library struct{ *loader }

// newLibrary returns the library whose files l reads.
func newLibrary(l *loader) *library { return &library{l} }

// newTypes reads the schemas that the flags name. objects may hold CustomResourceDefinitions. It reports what is wrong and
// returns nil if any schema cannot be used.
func (c *library) newTypes(f schemaFlags, objects ...*object) *types {
	t := &types{found: map[endpointID]*endpoint{}, told: func(schema.GVK, string) {}}
	if f.verbose {
		t.told = func(gvk schema.GVK, from string) {
			fmt.Fprintf(c.log, "%s %s: the schema is %s\n", gvk.APIVersion(), gvk.Kind, from)
		}
	}
	defined, ok1 := c.definedBy(f.crds)
	published, ok2 := c.publishedBy(f.openAPI)
	t.sources = append(t.sources, c.definitions(defined), c.definitions(objects), published)
	ok3 := true
	if f.schema != "" {
		var typ *schema.Type
		typ, ok3 = c.typeIn(f.schema, f.typeName)
		t.sources = append(t.sources, everyKind(typ, fmt.Sprintf("type %q in %s", f.typeName, f.schema)))
	}
	t.sources = append(t.sources, catalogSource(builtin.Catalog(), "built in ("+kubernetesVersion+")"))
	if f.schemaless {
		t.sources = append(t.sources, everyKind(schema.Deduced, "made up from the object (--schemaless)"))
	}
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	return t
}

// everyKind is the source that has the same type for every kind.
func everyKind(t *schema.Type, from string) source {
	return func(gvk schema.GVK) (kindTypes, bool) {
		return kindTypes{from: from, versions: versions{gvk.APIVersion(): t}}, true
	}
}

// kubernetesVersion is that of the built-in types.
const kubernetesVersion = "Kubernetes v1.37"

// catalogSource returns the source of the types in catalog.
func catalogSource(catalog *schema.Catalog, from string) source {
	kinds := map[groupKind]versions{}
	for gvk, t := range catalog.Kinds() {
		id := groupKind{gvk.Group, gvk.Kind}
		if kinds[id] == nil {
			kinds[id] = versions{}
		}
		kinds[id][gvk.APIVersion()] = t
	}
	return func(gvk schema.GVK) (kindTypes, bool) {
		found, ok := kinds[groupKind{gvk.Group, gvk.Kind}]
		return kindTypes{from: from, versions: found}, ok
	}
}

// versionsOf returns the types of a kind in the versions of the source that has it in version gvk.Version.
func (t *types) versionsOf(gvk schema.GVK) versions {
	for _, source := range t.sources {
		if kind, ok := source(gvk); ok && kind.versions[gvk.APIVersion()] != nil {
			return kind.versions
		}
	}
	return nil
}

// of returns how objects of kind gvk are written. The error is a [*noTypeError] if no source has the kind in that version.
func (t *types) of(gvk schema.GVK, config managedfields.Config) (*endpoint, error) {
	id := endpointID{gvk, config.Subresource}
	if e, ok := t.found[id]; ok {
		return e, nil
	}
	unknown := &noTypeError{gvk: gvk}
	for _, source := range t.sources {
		kind, ok := source(gvk)
		if !ok {
			continue
		}
		if kind.unusable != nil {
			return nil, fmt.Errorf("the definition of %s at %v cannot be used", gvk.Kind, kind.unusable.at())
		}
		typ, ok := kind.versions[gvk.APIVersion()]
		if !ok {
			unknown.others = append(unknown.others, kind.versions)
			continue
		}
		config.GVK, config.Types = gvk, kind.versions
		if empty, ok := builtin.Empty(gvk); ok {
			config.Empty, config.Hub = empty, gvk.APIVersion()
		}
		restores := t.complete(&config, kind)
		manager, err := managedfields.New(config)
		if err != nil {
			return nil, err
		}
		if kind.warn != nil {
			kind.warn(gvk.Version)
		}
		t.told(gvk, kind.from)
		t.found[id] = &endpoint{kindTypes: kind, typ: typ, manager: manager, restores: restores}
		return t.found[id], nil
	}
	return nil, unknown
}

// complete adds to config what the definition of a custom resource says besides types, and returns what is then to be restored.
func (t *types) complete(config *managedfields.Config, kind kindTypes) restoration {
	if kind.status == nil || !t.served {
		return restoreNothing
	}
	if kind.renamed {
		config.Converter = managedfields.StrategyNone(slices.Collect(maps.Keys(kind.versions))...)
	}
	config.ResetFields = kind.resets(config.GVK.APIVersion(), config.Subresource)
	switch {
	case config.ResetFields == nil:
		return restoreNothing
	case config.Subresource == statusName:
		return restoreRest
	}
	return restoreStatus
}

// noTypeError is a kind that no schema describes in the version wanted.
type noTypeError struct {
	gvk    schema.GVK
	others []versions // in which the kind is described
}

// Error names the kind, and what would supply its type.
func (e *noTypeError) Error() string {
	text := "no schema describes " + e.gvk.String()
	if known := sortedVersions(e.others); len(known) > 0 {
		text += ", only " + strings.Join(known, " and ")
	}
	return text + ": supply one with --crd FILE, --openapi FILE, or --schema FILE --type NAME, " +
		"or do without one by --schemaless"
}
