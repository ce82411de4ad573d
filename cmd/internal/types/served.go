package types

import (
	"maps"

	"github.com/deed-project/deed/internal/custom"
	"github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// builtInSource returns the source of the built-in types of a release.
func builtInSource(release *builtin.Release) source {
	catalog := catalogSource(release.Catalog(), builtInFrom(release))
	return func(gvk schema.GVK) (kindTypes, bool) {
		kind, ok := catalog(gvk)
		kind.builtIn = true
		if k, known := release.Lookup(gvk); known && k.Resource != "" {
			kind.ClusterScoped, kind.Subresources, kind.Replicas = !k.Namespaced, []string{}, k.Replicas()
			for _, s := range k.Subresources {
				kind.Subresources = append(kind.Subresources, s.Name)
			}
		}
		return kind, ok
	}
}

// builtInFrom returns where the built-in types of a release come from, as text.
func builtInFrom(release *builtin.Release) string {
	return "built in (Kubernetes " + release.String() + ")"
}

// complete adds the behaviour of a server to config, which has the types of kind. It returns the part of an outcome that must be restored.
// The error is a [*builtin.UnservedError] if objects of a built-in kind are written in a version that no server serves.
func (t *Types) complete(config *managedfields.Config, kind kindTypes) (Restoration, error) {
	switch {
	case kind.builtIn:
		return RestoreNothing, t.completeBuiltIn(config)
	case kind.status == nil || !t.Served:
		return RestoreNothing, nil
	}
	return t.completeCustom(config, kind), nil
}

// completeBuiltIn is complete for a built-in kind. The configuration itself restores the fields that the endpoint does not write.
func (t *Types) completeBuiltIn(config *managedfields.Config) error {
	k, ok := t.release.Lookup(config.GVK)
	if !ok {
		return nil
	}
	served, err := k.WithClock(config.Now).Config(config.Subresource)
	switch {
	case !t.Served && err == nil: // entries are read in their own versions
		config.Converter = served.Converter
		fallthrough
	case !t.Served:
		if empty, ok := t.release.Empty(config.GVK); ok {
			config.Empty, config.Hub = empty, config.GVK.APIVersion()
		}
		return nil
	case err != nil:
		return err
	}
	served.Cache, served.MaxUpdateManagers = config.Cache, config.MaxUpdateManagers
	served.ResetFields = withResets(served.ResetFields, config.ResetFields)
	if t.Bare {
		served.Hold, served.Read, served.Store = nil, nil, nil
	}
	*config = served
	return nil
}

// completeCustom is complete for a custom resource: it adds the behaviour that the definition declares.
func (t *Types) completeCustom(config *managedfields.Config, kind kindTypes) Restoration {
	s := kind.schemas[config.GVK.APIVersion()]
	if t.Bare {
		s = nil
	}
	served := custom.NewKind(kind.Versions, kind.status).Config(config.GVK, config.Subresource, s)
	config.Default, config.ResetFields = served.Default, withResets(served.ResetFields, config.ResetFields)
	if kind.Renamed {
		config.Converter = served.Converter
	}
	if s != nil {
		config.Read = func(object value.Value) (value.Value, error) {
			object, _, err := s.Decode(object)
			return s.Default(object), err
		}
	}
	restores := RestoreStatus
	switch {
	case served.ResetFields == nil:
		restores = RestoreNothing
	case config.Subresource == StatusName:
		restores = RestoreRest // with the metadata
	}
	if !t.Bare {
		config.Store = func(c managedfields.Change) (value.Value, error) {
			object := c.Object
			if restores != RestoreRest {
				object = custom.Identified(c.Live, object, restores == RestoreNothing)
			}
			if printed, _, err := structural.Metadata(object.Get("metadata")); err == nil {
				object = object.With("metadata", printed)
			}
			return kind.readBack(object, config.GVK.APIVersion()), nil
		}
	}
	return restores
}

// readBack returns object, a custom resource in a version, as a server reads it after it was stored: without what the schema of the stored
// version or its own schema prunes, with the defaults of the stored version, and with the metadata of embedded resources in canonical form.
// Its own metadata stays as it is. So does an object that cannot be read: validation refuses it.
func (k kindTypes) readBack(object value.Value, apiVersion string) value.Value {
	stored := k.storedAs(apiVersion)
	convert := func(v value.Value, to string) (value.Value, error) {
		if stored == apiVersion {
			return v, nil
		}
		v, _, err := k.schemas[to].Decode(v.With("apiVersion", value.String(to)))
		return v, err
	}
	out, err := convert(object, stored)
	if err == nil {
		out, err = k.schemas[stored].Load(out)
	}
	if err == nil {
		out, err = convert(k.schemas[stored].Default(out), apiVersion)
	}
	if err != nil {
		return object
	}
	return out.With("metadata", object.Get("metadata"))
}

// storedAs returns the apiVersion in which objects are stored, or apiVersion itself if only a webhook converts between the two.
func (k kindTypes) storedAs(apiVersion string) string {
	for v := range k.definition.Get("spec", "versions").Items() {
		if stored := v.Get("storage"); k.Renamed && stored.Kind() == value.KindBool && stored.Bool() {
			return schema.GVK{Group: k.definition.Get("spec", "group").Str(), Version: v.Get("name").Str()}.APIVersion()
		}
	}
	return apiVersion
}

// withResets returns filters that keep out what filters of a server and further filters do, by version. Of the further filters, only
// Exclude counts.
func withResets(served, further map[string]merge.Filter) map[string]merge.Filter {
	if len(further) == 0 {
		return served
	}
	out := map[string]merge.Filter{}
	maps.Copy(out, served)
	for version, filter := range further {
		both := out[version]
		both.Exclude = both.Exclude.Union(filter.Exclude)
		out[version] = both
	}
	return out
}

// structures returns the structural schemas of the CustomResourceDefinition crd by apiVersion. The error is about a schema that no server
// accepts.
func structures(crd value.Value) (map[string]*structural.Schema, error) {
	byName, err := structural.Versions(crd)
	out := map[string]*structural.Schema{}
	for name, s := range byName {
		out[schema.GVK{Group: crd.Get("spec", "group").Str(), Version: name}.APIVersion()] = s
	}
	return out, err
}
