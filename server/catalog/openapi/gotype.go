package openapi

import (
	"reflect"
	"slices"
	"strings"

	"github.com/deed-project/deed/value"
)

// components holds the schemas of a document, by name.
type components map[string]value.Value

// ref returns a reference to the schema of a Go type. It adds the schema, and all schemas that it refers to, to the components.
func (c components) ref(t reflect.Type) value.Value {
	name := typeName(t)
	if _, known := c[name]; !known {
		c[name] = value.Object() // ends the recursion for recursive types
		c[name] = c.structure(t)
	}
	return reference(name)
}

func reference(name string) value.Value {
	return object("$ref", value.String("#/components/schemas/"+name))
}

// object returns an object from alternating names and values. It omits absent values.
func object(pairs ...any) value.Value {
	var members []value.Member
	for i := 0; i < len(pairs); i += 2 {
		if v := pairs[i+1].(value.Value); !v.IsAbsent() {
			members = append(members, value.Member{Name: pairs[i].(string), Value: v})
		}
	}
	return value.Object(members...)
}

// texts returns a list of strings.
func texts(list ...string) value.Value {
	items := make([]value.Value, len(list))
	for i, s := range list {
		items[i] = value.String(s)
	}
	return value.List(items...)
}

// typeName returns the name of a Go type in documents: io.k8s.api.core.v1.Namespace for k8s.io/api/core/v1.Namespace.
func typeName(t reflect.Type) string {
	host, path, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(host, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

// swaggerType is implemented by Go types with their own encoding, such as times.
type swaggerType interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

// documented is implemented by Go types with descriptions of their fields. The empty name has the description of the type.
type documented interface{ SwaggerDoc() map[string]string }

// schema returns the schema of a Go type. For a named struct it is a reference.
func (c components) schema(t reflect.Type) value.Value {
	name := typeName(t)
	if s, ok := reflect.Zero(t).Interface().(swaggerType); ok && t.Kind() != reflect.Pointer {
		if known, ok := definitions()[name]; ok {
			c[name] = known
			return reference(name)
		}
		return printedAs(s)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return c.schema(t.Elem())
	case reflect.Struct:
		return c.ref(t)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return object("type", value.String("string"), "format", value.String("byte"))
		}
		return object("type", value.String("array"), "items", c.schema(t.Elem()))
	case reflect.Map:
		return object("type", value.String("object"), "additionalProperties", c.schema(t.Elem()))
	}
	return scalar(t.Kind())
}

// printedAs returns the schema of a type with its own encoding. A type that states none allows any JSON.
func printedAs(s swaggerType) value.Value {
	types, format := s.OpenAPISchemaType(), s.OpenAPISchemaFormat()
	switch {
	case len(types) == 0:
		return value.Object()
	case format == "":
		return object("type", value.String(types[0]))
	}
	return object("type", value.String(types[0]), "format", value.String(format))
}

func scalar(k reflect.Kind) value.Value {
	switch k {
	case reflect.Bool:
		return object("type", value.String("boolean"))
	case reflect.Int32, reflect.Uint16, reflect.Uint32:
		return object("type", value.String("integer"), "format", value.String("int32"))
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return object("type", value.String("integer"), "format", value.String("int64"))
	case reflect.Float32, reflect.Float64:
		return object("type", value.String("number"), "format", value.String("double"))
	case reflect.String:
		return object("type", value.String("string"))
	}
	return value.Object()
}

// structure returns the schema of a Go struct. It is the published schema with the descriptions of its fields, or derived from the fields
// if none is published.
func (c components) structure(t reflect.Type) value.Value {
	doc := docOf(t)
	properties, required := c.properties(t, doc)
	known, recorded := definitions()[typeName(t)]
	if recorded {
		for i, p := range properties {
			properties[i].Value = described(known.Get("properties", p.Name), doc.of(p.Name))
		}
		properties = slices.DeleteFunc(properties, func(p value.Member) bool { return p.Value.IsAbsent() })
		return withProperties(known.With("description", value.String(doc.of(""))), properties)
	}
	out := object("type", value.String("object"), "description", value.String(doc.of("")))
	if len(required) > 0 {
		slices.Sort(required)
		out = out.With("required", texts(required...))
	}
	return withProperties(out, properties)
}

func withProperties(schema value.Value, properties []value.Member) value.Value {
	if len(properties) == 0 {
		return schema
	}
	return schema.With("properties", value.Object(properties...))
}

// docs holds the field descriptions of a struct and of its embedded structs.
type docs []map[string]string

func (d docs) of(field string) string {
	for _, doc := range d {
		if text := doc[field]; text != "" {
			return text
		}
	}
	return ""
}

func docOf(t reflect.Type) docs {
	var out docs
	if d, ok := reflect.Zero(t).Interface().(documented); ok {
		out = append(out, d.SwaggerDoc())
	}
	for i := range t.NumField() {
		if f := t.Field(i); f.Anonymous && strings.HasPrefix(f.Tag.Get("json"), ",") && f.Type.Kind() == reflect.Struct {
			out = append(out, docOf(f.Type)...)
		}
	}
	return out
}

// properties returns the fields of a struct, including embedded ones, and the names of the required fields.
func (c components) properties(t reflect.Type, doc docs) (properties []value.Member, required []string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			more, needed := c.properties(f.Type, doc)
			properties, required = append(properties, more...), append(required, needed...)
		case name == "" || name == "-":
		default:
			properties = append(properties, value.Member{Name: name, Value: described(c.schema(f.Type), doc.of(name))})
			if options == "" {
				required = append(required, name)
			}
		}
	}
	return properties, required
}

// described returns a schema with a description. A reference cannot have siblings, so that it is wrapped in allOf.
func described(schema value.Value, description string) value.Value {
	if description == "" || schema.IsAbsent() {
		return schema
	}
	if !schema.Get("$ref").IsAbsent() {
		reference := object("$ref", schema.Get("$ref"))
		schema = schema.With("$ref", value.Value{}).With("allOf", value.List(reference))
	}
	return schema.With("description", value.String(description))
}
