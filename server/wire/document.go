package wire

import (
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// ListMeta is what the metadata of a list says.
type ListMeta struct {
	Version   string // the resource version
	Continue  string // the token for the next page; empty on the last
	Remaining int    // how many objects follow; unknown if 0
}

func (m ListMeta) value(custom bool) value.Value {
	out := value.Object(value.Member{Name: "resourceVersion", Value: value.String(m.Version)})
	if m.Continue != "" || custom {
		out = out.With("continue", value.String(m.Continue))
	}
	if m.Remaining > 0 {
		out = out.With("remainingItemCount", value.Int(int64(m.Remaining)))
	}
	return out
}

// ListDocument returns the list of items of v. Items of custom resources say what they are, those of built-in kinds do not.
func ListDocument(v *catalog.Version, m ListMeta, items []value.Value) value.Value {
	if !v.Custom {
		bare := make([]value.Value, len(items))
		for i, item := range items {
			bare[i] = item.With("apiVersion", value.Value{}).With("kind", value.Value{})
		}
		items = bare
	}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(v.APIVersion())},
		value.Member{Name: "items", Value: value.List(items...)},
		value.Member{Name: "kind", Value: value.String(v.ListKind)},
		value.Member{Name: "metadata", Value: m.value(v.Custom)},
	)
}

// Partial returns the metadata of an object as a document of its own, of the given version of meta.k8s.io.
func Partial(apiVersion string, object value.Value) value.Value {
	metadata := object.Get("metadata")
	if metadata.IsAbsent() {
		metadata = value.Object()
	}
	return value.Object(
		value.Member{Name: "apiVersion", Value: value.String(apiVersion)},
		value.Member{Name: "kind", Value: value.String(AsPartial)},
		value.Member{Name: "metadata", Value: metadata},
	)
}

// PartialList returns the metadata of items as a document of its own. Without items it has null in their place, as there.
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
