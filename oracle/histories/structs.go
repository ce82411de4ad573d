package histories

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gvkschema "k8s.io/apimachinery/pkg/runtime/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	builtinconfigs "k8s.io/client-go/applyconfigurations"

	deed "github.com/deed-project/deed/managedfields"
	"github.com/deed-project/deed/merge"
	"github.com/deed-project/deed/oracle/history"
	"github.com/deed-project/deed/oracle/kinds"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/value"
)

// structWorlds are the worlds of built-in kinds that are held as Go structs of one version, the hub. As in an API server, a scheme converts
// all other versions.
var structWorlds = []string{"autoscalers", "deployments", "pods", "services"}

// hubs has for each world of structs its initial manifest, in the hub's version, and its versions.
var hubs = map[string]struct {
	manifest string
	versions []string
}{
	"autoscalers": {"horizontalpodautoscaler-v2", []string{"autoscaling/v1", "autoscaling/v2"}},
	"deployments": {"deployment", []string{"apps/v1", "apps/v1beta1", "apps/v1beta2"}},
	"pods":        {"pod", []string{"v1"}},
	"services":    {"service", []string{"v1"}},
}

// structs holds objects of one kind as Go structs.
type structs struct {
	scheme    *runtime.Scheme
	convertor runtime.ObjectConvertor
	hub       gvkschema.GroupVersion
	kind      string
}

func openStructs(name string) (*World, error) {
	hub := hubs[name]
	all, err := manifests()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(k history.Kind) bool { return k.Name == hub.manifest })
	w, err := openBuiltin(name, all[i], hub.versions)
	if err != nil {
		return nil, err
	}
	scheme, err := versionedScheme()
	if err != nil {
		return nil, err
	}
	w.structs = &structs{scheme, runtime.UnsafeObjectConvertor(scheme), all[i].GVK.GroupVersion(), w.Kind}
	w.peerTypes = kinds.Served(kinds.Source{Scheme: scheme, Types: builtinconfigs.NewTypeConverter(scheme)})
	for _, v := range hub.versions {
		for j, seed := range w.Seeds[v] {
			if w.Seeds[v][j], err = w.structs.seed(seed, v); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// seed returns a manifest, which has the hub's fields, in another version, without members that a struct prints although they are not set.
func (s *structs) seed(manifest value.Value, apiVersion string) (value.Value, error) {
	if apiVersion == s.hub.String() {
		return manifest, nil
	}
	out, err := s.convert(manifest.With("apiVersion", value.String(s.hub.String())), apiVersion)
	return out.With("status", value.Value{}), err
}

// configure makes deed's field manager do with values what the reference does with structs.
func (s *structs) configure(config *deed.Config, hooks *engines) {
	config.Empty, _ = builtin.Empty(config.GVK)
	config.Converter, config.Hub = s, s.hub.String()
	config.Default = func(v value.Value) value.Value {
		out, err := s.through(v, config.GVK.APIVersion(), s.scheme.Default)
		if err != nil {
			hooks.fail = err
			return v
		}
		return out
	}
}

// admit returns object with defaults, in the hub's version.
func (s *structs) admit(object value.Value) (value.Value, error) {
	object, err := s.through(object, object.Get("apiVersion").Str(), s.scheme.Default)
	if err != nil {
		return object, err
	}
	return s.convert(object, s.hub.String())
}

// through returns v, which has the given version, as its struct prints it after change.
func (s *structs) through(v value.Value, apiVersion string, change func(runtime.Object)) (value.Value, error) {
	obj, err := s.scheme.New(gvkschema.FromAPIVersionAndKind(apiVersion, s.kind))
	if err != nil {
		return v, err
	}
	if err := utiljson.Unmarshal(v.AppendJSON(nil), obj); err != nil {
		return v, err
	}
	change(obj)
	return printed(obj)
}

func (s *structs) convert(v value.Value, apiVersion string) (value.Value, error) {
	return s.Convert(v, apiVersion)
}

// Convert implements [deed.Converter] through the hub, as the reference does.
func (s *structs) Convert(v value.Value, apiVersion string) (value.Value, error) {
	from, err := gvkschema.ParseGroupVersion(v.Get("apiVersion").Str())
	if err != nil {
		return v, err
	}
	to, err := gvkschema.ParseGroupVersion(apiVersion)
	if err != nil {
		return v, err
	}
	var obj runtime.Object = &unstructured.Unstructured{}
	if err := utiljson.Unmarshal(v.AppendJSON(nil), &obj.(*unstructured.Unstructured).Object); err != nil {
		return v, err
	}
	for _, step := range []gvkschema.GroupVersion{{Group: from.Group, Version: s.hub.Version}, to} {
		obj, err = s.convertor.ConvertToVersion(obj, step)
		if runtime.IsNotRegisteredError(err) {
			return v, fmt.Errorf("%w: %w", err, merge.ErrNoVersion)
		}
		if err != nil {
			return v, err
		}
	}
	return printed(obj)
}

func printed(obj runtime.Object) (value.Value, error) {
	text, err := json.Marshal(obj)
	if err != nil {
		return value.Value{}, err
	}
	return value.Parse(text)
}
