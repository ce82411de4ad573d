package wire

import (
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// Documents that are made of objects: lists, and metadata without the rest.

// ListMeta is the metadata of a list.
type ListMeta struct {
	Version   string // the resource version; empty for objects that are not stored
	Continue  string // the token for the next page; empty on the last
	Remaining int    // the number of objects on later pages; unknown if 0
}

// value returns the metadata as a document. kube-apiserver writes an empty "continue" only for custom resources, whose lists are not Go
// types.
func (m ListMeta) value(custom bool) value.Value {
	out := value.Object()
	if m.Version != "" {
		out = out.With("resourceVersion", value.String(m.Version))
	}
	if m.Continue != "" || custom {
		out = out.With("continue", value.String(m.Continue))
	}
	if m.Remaining > 0 {
		out = out.With("remainingItemCount", value.Int(int64(m.Remaining)))
	}
	return out
}

// ListDocument returns the list of items of v. Items of custom resources have an apiVersion and a kind, items of built-in kinds lack them.
func ListDocument(v *catalog.Version, m ListMeta, items []value.Value) value.Value {
	if !v.Custom {
		untyped := make([]value.Value, len(items))
		for i, item := range items {
			untyped[i] = item.With("apiVersion", value.Value{}).With("kind", value.Value{})
		}
		items = untyped
	}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(v.APIVersion())},
		value.Member{Name: "items", Value: value.List(items...)},
		value.Member{Name: "kind", Value: value.String(v.ListKind)},
		value.Member{Name: "metadata", Value: m.value(v.Custom)},
	)
}

// Partial returns the metadata of object as a PartialObjectMetadata. apiVersion is a version of meta.k8s.io.
//
// An object without metadata has empty metadata. kube-apiserver takes the metadata from its internal object, which has some annotations of
// older versions in fields.
func Partial(apiVersion string, object value.Value) value.Value {
	metadata := object.Get("metadata")
	if metadata.IsAbsent() {
		metadata = value.Object()
	}
	if annotations := metadata.Get("annotations"); annotations.Len() > 0 {
		metadata = metadata.With("annotations", withoutFields(object, annotations))
	}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(apiVersion)},
		value.Member{Name: "kind", Value: value.String(AsPartial)},
		value.Member{Name: "metadata", Value: metadata},
	)
}

// fieldAnnotations are the annotations, by kind, that internal objects have in fields.
var fieldAnnotations = map[[2]string][]string{
	{"apps/v1", "DaemonSet"}:  {"deprecated.daemonset.template.generation"},
	{"apps/v1", "Deployment"}: {"deprecated.deployment.rollback.to"},
	{"autoscaling/v1", "HorizontalPodAutoscaler"}: {
		"autoscaling.alpha.kubernetes.io/behavior", "autoscaling.alpha.kubernetes.io/conditions",
		"autoscaling.alpha.kubernetes.io/current-metrics", "autoscaling.alpha.kubernetes.io/metrics",
	},
}

// FieldAnnotations returns the annotations that [Partial] omits from the metadata of a kind.
func FieldAnnotations(apiVersion, kind string) []string {
	return fieldAnnotations[[2]string{apiVersion, kind}]
}

// withoutFields returns the annotations of object without its fieldAnnotations; absent if none is left.
func withoutFields(object, annotations value.Value) value.Value {
	for _, name := range FieldAnnotations(object.Get("apiVersion").Str(), object.Get("kind").Str()) {
		annotations = annotations.With(name, value.Value{})
	}
	if annotations.Len() == 0 {
		return value.Value{}
	}
	return annotations
}

// PartialList returns the metadata of items as a PartialObjectMetadataList. Like kube-apiserver, it writes null for an empty list of items.
func PartialList(apiVersion string, m ListMeta, items []value.Value) value.Value {
	partial := make([]value.Value, len(items))
	for i, item := range items {
		partial[i] = Partial(apiVersion, item)
	}
	list := value.List(partial...)
	if len(items) == 0 {
		list = value.Null()
	}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(apiVersion)},
		value.Member{Name: "items", Value: list},
		value.Member{Name: "kind", Value: value.String(AsPartialList)},
		value.Member{Name: "metadata", Value: m.value(false)},
	)
}
