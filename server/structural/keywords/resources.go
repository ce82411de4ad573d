package keywords

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/api"
	"github.com/deed-project/deed/value"
)

// Resources returns the errors in the type and the metadata of embedded resources. It costs nothing if the schema has none.
//
// kube-apiserver visits members in random order. Here they come by name.
func (s *Schema) Resources(ctx context.Context, object value.Value) field.ErrorList {
	if s == nil || !s.root.below.resources {
		return nil
	}
	if long := s.root.tooLong(object, func(n *node) bool { return n.below.resources }, maxResourcePaths); long != nil {
		return long
	}
	return s.root.resources(ctx, nil, object)
}

// resources returns the errors of the resources in v, which is at a path.
func (n *node) resources(ctx context.Context, at *field.Path, v value.Value) (errs field.ErrorList) {
	if n == nil || !n.below.resources {
		return nil
	}
	switch v.Kind() {
	case value.KindObject:
		if n.resource {
			errs = embeddedErrors(ctx, at, v)
		}
		for name, member := range v.Members() {
			if property, declared := n.properties[name]; declared {
				errs = append(errs, property.resources(ctx, at.Child(name), member)...)
			} else {
				errs = append(errs, n.additional.resources(ctx, at.Key(name), member)...)
			}
		}
	case value.KindList:
		for i := range v.Len() {
			errs = append(errs, n.items.resources(ctx, at.Index(i), v.Item(i))...)
		}
	}
	return errs
}

// embeddedErrors returns the errors of one embedded resource. Unlike apiVersion and kind, its metadata may be missing.
func embeddedErrors(ctx context.Context, at *field.Path, v value.Value) (errs field.ErrorList) {
	for _, name := range [...]string{"apiVersion", "kind"} {
		if v.Get(name).IsAbsent() {
			errs = append(errs, field.Required(at.Child(name), ""))
		}
	}
	text := func(name string, wrong func(string) string) {
		member, path := v.Get(name), at.Child(name)
		switch {
		case member.IsAbsent():
		case member.Kind() != value.KindString:
			errs = append(errs, field.Invalid(path, member.ToAny(), "must be a string"))
		case member.Str() == "":
			errs = append(errs, field.Invalid(path, "", "must not be empty"))
		default:
			if reason := wrong(member.Str()); reason != "" {
				errs = append(errs, field.Invalid(path, member.Str(), reason))
			}
		}
	}
	text("apiVersion", func(text string) string {
		if _, err := schema.ParseGroupVersion(text); err != nil {
			return err.Error()
		}
		return ""
	})
	text("kind", func(text string) string {
		if wrong := validation.IsDNS1035Label(strings.ToLower(text)); len(wrong) > 0 {
			return "may have mixed case, but should otherwise match: " + strings.Join(wrong, ",")
		}
		return ""
	})
	if metadata := v.Get("metadata"); !metadata.IsAbsent() {
		errs = append(errs, api.ValidateEmbedded(ctx, metadata, at.Child("metadata"))...)
	}
	return errs
}
