package builtin

import (
	"fmt"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/server/catalog"
	"github.com/deed-project/deed/value"
)

// Subresources of pods. Some write the pod itself, through field managers of their own: Parts. Others take an object of another kind:
// Actions.

var pod = schema.GVK{Version: "v1", Kind: "Pod"}

// addPodSubresource adds a subresource of pods to their version.
//
// A subresource in Actions has a version that is not part of the catalog, with the kind that requests send.
func addPodSubresource(v *catalog.Version, kind *builtin.Kind, name string, now func() time.Time) {
	if v.Parts == nil {
		v.Parts, v.Actions = map[string]catalog.Manager{}, map[string]*catalog.Version{}
	}
	switch name {
	case "ephemeralcontainers", "resize":
		v.Parts[name] = managerOf(kind, name)
	case "binding":
		v.Actions[name] = newBindings().Versions[0]
		manageReview(v.Actions[name], name, bindingType, now)
	case "eviction":
		eviction := review("policy", "Eviction", func() any { return &policyv1.Eviction{} }).Versions[0]
		eviction.Takes = []string{"policy/v1beta1"}
		v.Actions[name] = eviction
		manageReview(eviction, name, schema.Deduced, now)
	case "log":
		v.Actions[name] = newLog()
	case "attach", "exec", "portforward", "proxy":
		v.Actions[name] = connections[name]
	}
}

// newLog returns the logs of pods. Discovery names them as pods.
func newLog() *catalog.Version {
	r := review("", "Pod", func() any { return &corev1.PodLogOptions{} })
	r.Verbs = []string{"get"}
	r.Versions[0].Log = true
	return r.Versions[0]
}

// Bindings returns the resource bindings, which does the same as the subresource binding of pods. Its only verb is create. now is the clock
// of managed fields.
func Bindings(now func() time.Time) *catalog.Resource {
	r := newBindings()
	manageReview(r.Versions[0], "", bindingType, now)
	return r
}

// newBindings returns the resource bindings without a field manager.
func newBindings() *catalog.Resource {
	r := namespaced(review("", "Binding", func() any { return &corev1.Binding{} }))
	r.Versions[0].Published = publishedBinding
	return r
}

// publishedBinding returns the type of Bindings in OpenAPI.
var publishedBinding = sync.OnceValue(func() *schema.Type {
	text, err := value.Parse([]byte(`{"types": [
		{"name": "Binding", "map": {"fields": [` + fields("string", "apiVersion", "kind") + `,
			{"name": "metadata", "type": {"namedType": "Metadata"}}, {"name": "target", "type": {"namedType": "Target"}}]}},
		{"name": "Target", "map": {"elementRelationship": "atomic", "fields": [` +
		fields("string", "apiVersion", "fieldPath", "kind", "name", "namespace", "resourceVersion", "uid") + `]}},
		{"name": "Metadata", "map": {"fields": [` +
		fields("string", "generateName", "name", "namespace", "resourceVersion", "selfLink", "uid") + `,` +
		fields("numeric", "deletionGracePeriodSeconds", "generation") + `,` + fields("untyped", "creationTimestamp", "deletionTimestamp") + `,
			{"name": "annotations", "type": {"map": {"elementType": {"scalar": "string"}}}},
			{"name": "labels", "type": {"map": {"elementType": {"scalar": "string"}}}},
			{"name": "finalizers", "type": {"list": {"elementType": {"scalar": "string"}, "elementRelationship": "associative"}}},
			{"name": "managedFields", "type": {"list": {"elementType": {"namedType": "Entry"}, "elementRelationship": "atomic"}}},
			{"name": "ownerReferences", "type": {"list": {"elementType": {"namedType": "Owner"}, "elementRelationship": "associative", "keys": ["uid"]}}}]}},
		{"name": "Entry", "map": {"fields": [` + fields("string", "apiVersion", "fieldsType", "manager", "operation", "subresource") + `,` +
		fields("untyped", "time") + `, {"name": "fieldsV1", "type": {"namedType": "Deduced"}}]}},
		{"name": "Owner", "map": {"elementRelationship": "atomic", "fields": [` + fields("string", "apiVersion", "kind", "name", "uid") + `,` +
		fields("boolean", "blockOwnerDeletion", "controller") + `]}},
		{"name": "Deduced", "map": {"elementType": {"namedType": "Deduced"}, "elementRelationship": "separable"}}]}`))
	if err != nil {
		panic(err) // the document is a constant
	}
	document, err := schema.ParseDocument(text)
	if err != nil {
		panic(err)
	}
	types, err := schema.Compile(document)
	if err != nil {
		panic(err)
	}
	return types["Binding"]
})

// fields returns declarations of fields with a scalar type.
func fields(scalar string, names ...string) string {
	var out []string
	for _, name := range names {
		out = append(out, fmt.Sprintf(`{"name": %q, "type": {"scalar": %q}}`, name, scalar))
	}
	return strings.Join(out, ",")
}

// bindingType is the type by which the field manager reads Bindings. Their target is atomic.
var bindingType = func() *schema.Type {
	anything := schema.TypeRef{NamedType: "anything"}
	target := anything
	target.Relationship = schema.Atomic
	types, err := schema.Compile(&schema.Document{Types: []schema.TypeDef{
		{Name: anything.NamedType, Atom: schema.Atom{
			Scalar: schema.Untyped, List: &schema.ListDef{ElementType: anything, Relationship: schema.Atomic},
			Map: &schema.MapDef{ElementType: anything, Relationship: schema.Separable},
		}},
		{Name: "Binding", Atom: schema.Atom{Map: &schema.MapDef{
			Fields: []schema.FieldDef{{Name: "target", Type: target}}, ElementType: anything,
		}}},
	}})
	if err != nil {
		panic(err) // the document is a constant
	}
	return types["Binding"]
}()
