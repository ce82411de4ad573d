package openapi

import (
	"fmt"

	"github.com/deed-project/deed/value"
)

// node is one schema of a CustomResourceDefinition. It has the keywords of topology, and those that decide whether the schema
// is structural. A null, false or empty keyword counts as absent.
type node struct {
	typ, format        string
	title, description string
	pattern            string
	nullable           bool
	deflt              value.Value

	items      *node
	itemsList  bool // items is a list of schemas
	properties []property
	additional *additional

	allOf, anyOf, oneOf []*node
	not                 *node

	preserve    value.Value // x-kubernetes-preserve-unknown-fields, as written
	embedded    bool
	intOrString bool
	listKeys    []string
	listType    value.Value
	mapType     value.Value
	rules       int // the number of x-kubernetes-validations

	unsupported []string // the forbidden keywords that are present
	others      []string // all other keywords that are present
}

// property is one property of a schema. Properties are sorted by name.
type property struct {
	name string
	*node
}

// additional is the value of additionalProperties: a schema, true or false.
type additional struct {
	*node // nil for true and false
	allow bool
}

// property returns the property called name, or nil.
func (n *node) property(name string) *node {
	for _, p := range n.properties {
		if p.name == name {
			return p.node
		}
	}
	return nil
}

func (n *node) preserves() bool { return n.preserve.Bool() }

// decoder reads nodes. Its errors are about values of the wrong kind. An API server does not store such values.
type decoder struct {
	crd, version string
	errors       []error
}

func (d *decoder) fail(at *path, want string, v value.Value) {
	d.errors = append(d.errors, &SchemaError{d.crd, d.version, at.String(), fmt.Sprintf("expected %s, got %v", want, v.Kind())})
}

// present reports whether v has kind want. Any other kind is an error, but not an absent or null v.
func (d *decoder) present(v value.Value, want value.Kind, at *path) bool {
	if v.IsAbsent() || v.IsNull() {
		return false
	}
	if v.Kind() != want {
		d.fail(at, want.String(), v)
		return false
	}
	return true
}

func (d *decoder) node(v value.Value, at *path) *node {
	n := &node{}
	if !d.present(v, value.KindObject, at) {
		return n
	}
	for keyword, v := range v.Members() {
		if !v.IsNull() {
			d.keyword(n, keyword, v, at.in(keyword))
		}
	}
	return n
}

// keyword reads one keyword into n.
func (d *decoder) keyword(n *node, keyword string, v value.Value, at *path) {
	switch keyword {
	case "type":
		n.typ = d.text(v, at)
	case "format":
		n.format = d.text(v, at)
		n.other(keyword, n.format != "")
	case "title":
		n.title = d.text(v, at)
	case "description":
		n.description = d.text(v, at)
	case "pattern":
		n.pattern = d.text(v, at)
		n.other(keyword, n.pattern != "")
	case "nullable":
		n.nullable = d.flag(v, at)
	case "default":
		n.deflt = v
	case "items":
		d.items(n, v, at)
	case "properties":
		n.properties = d.properties(v, at)
	case "additionalProperties":
		n.additional = d.additional(v, at)
	case "allOf":
		n.allOf = d.list(v, at)
	case "anyOf":
		n.anyOf = d.list(v, at)
	case "oneOf":
		n.oneOf = d.list(v, at)
	case "not":
		n.not = d.node(v, at)
	default:
		d.extension(n, keyword, v, at)
	}
}

// extension reads one of the other keywords into n: those of Kubernetes, the forbidden ones, and the rest. The rest matters
// only where no keyword is allowed.
func (d *decoder) extension(n *node, keyword string, v value.Value, at *path) {
	switch keyword {
	case preserveUnknown:
		d.flag(v, at)
		n.preserve = v
	case embeddedResource:
		n.embedded = d.flag(v, at)
	case intOrString:
		n.intOrString = d.flag(v, at)
	case listMapKeys:
		n.listKeys = d.texts(v, at)
	case listType:
		d.text(v, at)
		n.listType = v
	case mapType:
		d.text(v, at)
		n.mapType = v
	case "x-kubernetes-validations":
		if d.present(v, value.KindList, at) {
			n.rules = v.Len()
		}
	case "id", "$schema", "$ref":
		if d.text(v, at) != "" {
			n.unsupported = append(n.unsupported, keyword)
		}
	case "patternProperties", "dependencies", "definitions":
		if d.present(v, value.KindObject, at) && v.Len() > 0 {
			n.unsupported = append(n.unsupported, keyword)
		}
	case "additionalItems":
		n.unsupported = append(n.unsupported, keyword)
	case "maximum", "minimum", "maxLength", "minLength", "maxItems", "minItems", "multipleOf", "maxProperties", "minProperties",
		"externalDocs", "example", "required":
		n.other(keyword, true)
	case "exclusiveMaximum", "exclusiveMinimum", "uniqueItems":
		n.other(keyword, v.Bool())
	case "enum":
		n.other(keyword, v.Len() > 0)
	}
}

func (n *node) other(keyword string, there bool) {
	if there {
		n.others = append(n.others, keyword)
	}
}

func (d *decoder) items(n *node, v value.Value, at *path) {
	switch v.Kind() {
	case value.KindObject:
		n.items = d.node(v, at)
	case value.KindList:
		n.itemsList = len(d.list(v, at)) > 0
	}
}

func (d *decoder) properties(v value.Value, at *path) []property {
	if !d.present(v, value.KindObject, at) {
		return nil
	}
	var out []property
	for name, v := range v.Members() {
		out = append(out, property{name, d.node(v, at.in("["+name+"]"))})
	}
	return out
}

func (d *decoder) additional(v value.Value, at *path) *additional {
	switch v.Kind() {
	case value.KindBool:
		return &additional{allow: v.Bool()}
	case value.KindObject:
		return &additional{d.node(v, at), true}
	}
	d.fail(at, "a schema, true or false", v)
	return nil
}

func (d *decoder) list(v value.Value, at *path) []*node {
	if !d.present(v, value.KindList, at) {
		return nil
	}
	out := make([]*node, v.Len())
	for i := range out {
		out[i] = d.node(v.Item(i), at.in(index(i)))
	}
	return out
}

func (d *decoder) text(v value.Value, at *path) string {
	d.present(v, value.KindString, at)
	return v.Str()
}

func (d *decoder) texts(v value.Value, at *path) []string {
	if !d.present(v, value.KindList, at) {
		return nil
	}
	var out []string
	for i := range v.Len() {
		out = append(out, d.text(v.Item(i), at.in(index(i))))
	}
	return out
}

func (d *decoder) flag(v value.Value, at *path) bool {
	d.present(v, value.KindBool, at)
	return v.Bool()
}
