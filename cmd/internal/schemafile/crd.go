package schemafile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// DefinitionOf returns a CustomResourceDefinition for a kind of f in all its versions. typeName selects a type of f; it is empty if f has
// only one kind. kind is GROUP/VERSION/KIND if f does not know the kind of the type.
//
// DefinitionOf converts the definition back before it returns. It returns an error if the types differ from those of f.
func DefinitionOf(f *File, typeName, kind string) (value.Value, error) {
	kinds, err := definedKinds(f, typeName, kind)
	if err != nil {
		return value.Value{}, err
	}
	var versions []value.Value
	for i, k := range kinds {
		root := f.types[k.Type]
		w := definitionWriter{root: root, open: []*schema.Type{root}}
		s := w.resource(root, "", false)
		if w.err != nil {
			return value.Value{}, fmt.Errorf("type %q: %w", k.Type, w.err)
		}
		versions = append(versions, object1("name", value.String(k.Version)).With("served", value.Bool(true)).
			With("storage", value.Bool(i == len(kinds)-1)).With("schema", object1("openAPIV3Schema", s)))
	}
	out := definition(kinds[0].GVK, versions)
	return out, sameKinds(f, kinds, out)
}

// definedKinds returns the versions of the one kind to define.
func definedKinds(f *File, typeName, kind string) ([]openapi.Kind, error) {
	if typeName != "" && f.types[typeName] == nil {
		return nil, fmt.Errorf("--type: there is no type %q in this schema", typeName)
	}
	if kind != "" {
		version, name, ok := cutLast(kind, "/")
		gvk := schema.ParseGVK(version, name)
		if !ok || typeName == "" || gvk.Group == "" || gvk.Version == "" || gvk.Kind == "" {
			return nil, errors.New("--kind is GROUP/VERSION/KIND, and needs --type, the name of the type that is of this kind")
		}
		return []openapi.Kind{{GVK: gvk, Type: typeName}}, nil
	}
	var out []openapi.Kind
	for _, k := range f.kinds {
		if typeName == "" || k.Type == typeName {
			out = append(out, k)
		}
	}
	switch {
	case len(out) == 0:
		return nil, errors.New("the schema does not say what is of which kind: name a type with --type, and its kind with " +
			"--kind GROUP/VERSION/KIND")
	case slices.ContainsFunc(out, func(k openapi.Kind) bool { return k.Group != out[0].Group || k.Kind != out[0].Kind }):
		return nil, errors.New("the schema has several kinds: name the type of one with --type")
	case out[0].Group == "":
		return nil, fmt.Errorf("type %q: %s has no API group, and custom resources need one", out[0].Type, out[0].Kind)
	}
	return out, nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// definition returns the definition around the schemas of versions. It makes up the data that a schema lacks.
func definition(gvk schema.GVK, versions []value.Value) value.Value {
	singular := strings.ToLower(gvk.Kind)
	plural := singular + "s"
	switch {
	case strings.HasSuffix(singular, "s"), strings.HasSuffix(singular, "x"), strings.HasSuffix(singular, "ch"):
		plural = singular + "es"
	case strings.HasSuffix(singular, "y"):
		plural = strings.TrimSuffix(singular, "y") + "ies"
	}
	names := object1("kind", value.String(gvk.Kind)).With("listKind", value.String(gvk.Kind+manifest.ListSuffix)).
		With("plural", value.String(plural)).With("singular", value.String(singular))
	spec := object1("group", value.String(gvk.Group)).With("names", names).With("scope", value.String("Namespaced")).
		With("versions", value.List(versions...))
	return object1("apiVersion", value.String("apiextensions.k8s.io/v1")).With("kind", value.String("CustomResourceDefinition")).
		With("metadata", object1("name", value.String(plural+"."+gvk.Group))).With("spec", spec)
}

// sameKinds returns an error if the types of definition differ from those of f.
func sameKinds(f *File, kinds []openapi.Kind, definition value.Value) error {
	d, err := openapi.CRD(definition)
	if err != nil {
		return err
	}
	if err := errors.Join(d.Warnings...); err != nil {
		return err
	}
	compiled, err := schema.Compile(d.Document)
	if err != nil {
		return err
	}
	for _, k := range kinds {
		for _, back := range d.Kinds {
			if back.GVK != k.GVK {
				continue
			}
			t := compiled[back.Type]
			if at := differs(f.types[k.Type], t, ""); at != "" {
				return fmt.Errorf("type %q: %s: a custom resource cannot have this type", k.Type, at)
			}
		}
	}
	return nil
}
