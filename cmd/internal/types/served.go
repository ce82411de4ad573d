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

// builtInSource returns the source of the built-in types of a release. The types of a kind are compiled when it is asked for: all kinds together
// take longer than most commands.
func builtInSource(release *builtin.Release) source {
	return func(gvk schema.GVK) (kindTypes, bool) {
		kind := kindTypes{From: builtInFrom(release), Versions: versions{}, builtIn: true}
		for typed := range release.Typed() {
			if typed.Group == gvk.Group && typed.Kind == gvk.Kind {
				kind.Versions[typed.APIVersion()], _ = release.Type(typed)
			}
		}
		if k, known := release.Lookup(gvk); known && k.Resource != "" {
			kind.ClusterScoped, kind.Subresources, kind.Replicas = !k.Namespaced, []string{}, k.Replicas()
			for _, s := range k.Subresources {
				kind.Subresources = append(kind.Subresources, s.Name)
			}
		}
		return kind, len(kind.Versions) > 0
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
	s := kind.storage.Schemas[config.GVK.Version]
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
			return kind.readBack(object, config.GVK.Version), nil
		}
	}
	return restores
}

// readBack returns object, a custom resource in a version, as a server reads it after it was stored: see [custom.Storage]. Its own metadata
// stays as it is. So does an object that only a webhook converts from the stored version, an object of a version without a schema, and one
// that cannot be read, which validation refuses.
func (k kindTypes) readBack(object value.Value, version string) value.Value {
	storage := k.storage
	if !k.Renamed {
		storage.Version = version
	}
	if storage.Schemas[version] == nil || storage.Schemas[storage.Version] == nil {
		return object
	}
	out, err := storage.Store(object, version)
	if err == nil {
		out, err = storage.Load(out, version)
	}
	if err != nil {
		return object
	}
	return out.With("metadata", object.Get("metadata"))
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
