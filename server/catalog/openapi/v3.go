package openapi

import (
	"reflect"
	"slices"
	"strings"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// V3 returns the OpenAPI v3 document of a group version.
//
// The cost grows with the number of its resources and the size of their schemas.
func V3(c *catalog.Catalog, group, version string) value.Value {
	d := document{components: components{}, paths: map[string]value.Value{}}
	title := "Kubernetes"
	for v := range c.In(group, version) {
		if v.Custom {
			title = "Kubernetes CRD Swagger"
		}
		d.add(v)
	}
	info := object("title", value.String(title), "version", value.String("v0.1.0"))
	return object("openapi", value.String("3.0.0"), "info", info, "paths", members(d.paths),
		"components", object("schemas", members(d.components)))
}

func members(of map[string]value.Value) value.Value {
	var out []value.Member
	for name, v := range of {
		out = append(out, value.Member{Name: name, Value: v})
	}
	return value.Object(out...)
}

// document is an OpenAPI document under construction.
type document struct {
	components
	paths map[string]value.Value
}

// add adds the kind of a version, its list, and their paths.
func (d *document) add(v *catalog.Version) {
	name := d.kind(v)
	list := name + "List"
	if v.ListKind != "" {
		list = strings.TrimSuffix(name, v.Kind) + v.ListKind
	}
	d.components[list] = object(
		"type", value.String("object"), "required", texts("items"),
		"description", value.String(v.ListKind+" is a list of "+v.Kind),
		"properties", object(
			"apiVersion", described(object("type", value.String("string")), typeDoc["apiVersion"]),
			"items", object("type", value.String("array"), "items", reference(name)),
			"kind", described(object("type", value.String("string")), typeDoc["kind"]),
			"metadata", described(d.ref(reflect.TypeFor[metav1.ListMeta]()), listDoc["metadata"]),
		),
		gvkExtension, value.List(gvk(v.Group, v.Name, v.ListKind)),
	)
	d.addPaths(v, reference(name), reference(list))
}

const gvkExtension = "x-kubernetes-group-version-kind"

func gvk(group, version, kind string) value.Value {
	return object("group", value.String(group), "kind", value.String(kind), "version", value.String(version))
}

var (
	typeDoc = metav1.TypeMeta{}.SwaggerDoc()
	listDoc = metav1.PartialObjectMetadataList{}.SwaggerDoc()
)

// kind adds the schema of a kind and returns its name.
func (d *document) kind(v *catalog.Version) string {
	if v.New != nil {
		t := reflect.TypeOf(v.New()).Elem()
		d.ref(t)
		name := typeName(t)
		d.components[name] = d.components[name].With(gvkExtension, value.List(gvk(v.Group, v.Name, v.Kind)))
		return name
	}
	parts := strings.Split(v.Group, ".")
	slices.Reverse(parts)
	name := strings.Join(append(parts, v.Name, v.Kind), ".")
	d.components[name] = d.custom(v)
	return name
}

// custom returns the schema of a custom resource: the schema of its definition with apiVersion, kind and metadata.
func (d *document) custom(v *catalog.Version) value.Value {
	schema := v.Schema
	if schema.Kind() != value.KindObject {
		return object("type", value.String("object"), gvkExtension, value.List(gvk(v.Group, v.Name, v.Kind)))
	}
	schema = d.embedded(schema)
	properties := schema.Get("properties")
	if properties.IsAbsent() {
		properties = value.Object()
	}
	return schema.With("properties", d.withTypeMeta(properties)).With(gvkExtension, value.List(gvk(v.Group, v.Name, v.Kind)))
}

// withTypeMeta returns properties with apiVersion, kind and metadata.
func (d *document) withTypeMeta(properties value.Value) value.Value {
	text := object("type", value.String("string"))
	return properties.With("apiVersion", described(text, typeDoc["apiVersion"])).With("kind", described(text, typeDoc["kind"])).
		With("metadata", described(d.ref(reflect.TypeFor[metav1.ObjectMeta]()), metav1.PartialObjectMetadata{}.SwaggerDoc()["metadata"]))
}

// embedded returns a schema whose embedded resources have apiVersion, kind and metadata.
func (d *document) embedded(schema value.Value) value.Value {
	for _, name := range []string{"items", "additionalProperties"} {
		if child := schema.Get(name); child.Kind() == value.KindObject {
			schema = schema.With(name, d.embedded(child))
		}
	}
	if properties := schema.Get("properties"); properties.Len() > 0 {
		edited := make([]value.Member, 0, properties.Len())
		for name, property := range properties.Members() {
			edited = append(edited, value.Member{Name: name, Value: d.embedded(property)})
		}
		schema = schema.With("properties", value.Object(edited...))
	}
	if !schema.Get("x-kubernetes-embedded-resource").Bool() {
		return schema
	}
	properties, required := schema.Get("properties"), slices.Collect(schema.Get("required").Items())
	if properties.IsAbsent() {
		properties = value.Object()
	}
	for _, name := range []string{"kind", "apiVersion"} {
		if !slices.ContainsFunc(required, value.String(name).Equal) {
			required = append(required, value.String(name))
		}
	}
	return schema.With("properties", d.withTypeMeta(properties)).With("required", value.List(required...))
}

// scaleRef returns a reference to the schema of Scale.
func (d *document) scaleRef() value.Value { return d.ref(reflect.TypeFor[autoscalingv1.Scale]()) }
