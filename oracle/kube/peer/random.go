package peer

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/deed-project/deed/oracle/kube/scheme"
)

// Random returns a random object of a kind, as encoding/json has it: with empty, zero and null values, numbers that
// are written in many ways, and members that are missing.
func Random(r *rand.Rand, gvk schema.GroupVersionKind) map[string]any {
	t := scheme.All().AllKnownTypes()[gvk]
	g := &generator{Rand: r, budget: 20 + r.IntN(150)}
	object := g.object(t, 0)
	object["apiVersion"], object["kind"] = gvk.GroupVersion().String(), gvk.Kind
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		metadata = map[string]any{}
		object["metadata"] = metadata
	}
	metadata["name"] = "x"
	delete(metadata, "managedFields")
	return object
}

type generator struct {
	*rand.Rand
	budget int // how many members may still be made
}

// words are texts that default values depend on, and others.
var words = strings.Fields(`a b RollingUpdate OnDelete Recreate ClientIP None LoadBalancer NodePort ClusterIP ExternalName Container Pod
	ServiceAccount User Group ExactCount All img img:latest img:1 host:5/a/b Img a/b@x Exact Equivalent Ingress Egress v1`)

func (g *generator) one(texts ...string) string { return texts[g.IntN(len(texts))] }

func (g *generator) value(t reflect.Type, depth int) any {
	if g.IntN(25) == 0 {
		return nil
	}
	switch t.String() {
	case "resource.Quantity":
		if g.IntN(6) == 0 {
			return g.IntN(3000)
		}
		return g.one("1", "1000m", "0.1", "1Gi", "1024Mi", "100m", "1.5", "0", "1e3", "12E", "1500u", "0.0001", "-1", "2000000", "1.5Gi", "1n", "+5", "05", "1000", "1Ki", "1000Ki", "1536Mi")
	case "v1.Time":
		return g.one("2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00.5Z")
	case "v1.MicroTime":
		return g.one("2026-01-01T00:00:00.000000Z", "2026-01-01T02:00:00.123456+02:00")
	case "v1.Duration":
		return g.one("1s", "90s", "1h", "1500ms")
	case "intstr.IntOrString":
		if g.IntN(2) == 0 {
			return g.IntN(3)
		}
		return g.one("", "25%", "http", "0")
	case "runtime.RawExtension", "v1.JSON", "v1.FieldsV1":
		return map[string]any{"kind": "X", "apiVersion": "v1", "z": []any{}, "a": g.IntN(3)}
	case "v1.JSONSchemaPropsOrBool":
		return g.IntN(2) == 0
	case "v1.JSONSchemaPropsOrArray", "v1.JSONSchemaPropsOrStringArray":
		return map[string]any{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return g.value(t.Elem(), depth)
	case reflect.Struct:
		return g.object(t, depth+1)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return g.one("", "aGk=", "aG8=")
		}
		items := []any{}
		for range g.count() {
			items = append(items, g.value(t.Elem(), depth+1))
		}
		return items
	case reflect.Map:
		members := map[string]any{}
		for range g.count() {
			members[g.one("cpu", "memory", "a", "b", "hugepages-2Mi")] = g.value(t.Elem(), depth+1)
		}
		return members
	case reflect.String:
		if g.IntN(5) == 0 {
			return ""
		}
		return words[g.IntN(len(words))]
	case reflect.Bool:
		return g.IntN(2) == 0
	case reflect.Int32, reflect.Int64, reflect.Int:
		return []int{0, 0, 1, 5, 80, -3}[g.IntN(6)]
	case reflect.Float64:
		return []any{0, 1.5, 2}[g.IntN(3)]
	}
	panic(fmt.Sprintf("a field of type %v", t))
}

func (g *generator) count() int {
	if g.budget <= 0 {
		return 0
	}
	return g.IntN(3)
}

// object returns an object with some of the fields of t. The deeper it is, and the more there is already, the fewer.
func (g *generator) object(t reflect.Type, depth int) map[string]any {
	out := map[string]any{}
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if name == "" && field.Anonymous {
			for n, v := range g.object(field.Type, depth) {
				out[n] = v
			}
			continue
		}
		if name == "timeAdded" { // its default is the current time
			out[name] = "2026-01-01T00:00:00Z"
			continue
		}
		likely := 0.6
		if depth > 2 {
			likely = 0.25
		}
		if depth > 7 || g.budget <= 0 {
			likely = 0.02
		}
		if name == "spec" || name == "template" {
			likely = 0.95
		}
		if depth < 14 && g.Float64() < likely {
			g.budget--
			out[name] = g.value(field.Type, depth)
		}
	}
	return out
}
