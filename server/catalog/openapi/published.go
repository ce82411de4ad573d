package openapi

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/deed-project/deed/value"
)

// schemasFile holds the schemas that kube-apiserver publishes in OpenAPI v3 for its Go types. Each line has a name, a space and the schema.
// Command oracle/kube/openapi writes the file.
//
//go:embed schemas.txt.gz
var schemasFile []byte

// published returns the schemas of schemasFile as JSON, by name.
var published = sync.OnceValue(func() map[string]string {
	z, err := gzip.NewReader(bytes.NewReader(schemasFile))
	if err != nil {
		panic(err) // the file is part of the program
	}
	text, err := io.ReadAll(z)
	if err != nil {
		panic(err) // as above
	}
	out := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, schema, _ := strings.Cut(line, " ")
		out[name] = schema
	}
	return out
})

const (
	refPrefix  = "#/components/schemas/"
	metaPrefix = "io.k8s.apimachinery.pkg.apis.meta.v1."

	gvkExtension = "x-kubernetes-group-version-kind"
)

// components holds the schemas of a document, by name, as v3 has them.
type components map[string]value.Value

// add adds a schema, and the schemas that it refers to. Those of custom resources are in custom; others are published. It ignores names
// without a schema.
func (c components) add(name string, custom map[string]value.Value) {
	if _, known := c[name]; known || name == "" {
		return
	}
	schema, ok := custom[name]
	if !ok {
		var err error
		if schema, err = value.Parse([]byte(published()[name])); err != nil {
			return
		}
	}
	c[name] = schema
	c.addReferences(schema, custom)
}

// addReferences adds the schemas that a schema refers to.
func (c components) addReferences(schema value.Value, custom map[string]value.Value) {
	for name, member := range schema.Members() {
		if name == "$ref" && member.Kind() == value.KindString {
			c.add(strings.TrimPrefix(member.Str(), refPrefix), custom)
			continue
		}
		c.addReferences(member, custom)
	}
	for item := range schema.Items() {
		c.addReferences(item, custom)
	}
}

// keepKinds removes kinds from the schemas that every group version has, unless keep returns true for their group and version.
func (c components) keepKinds(keep func(group, version string) bool) {
	for _, name := range []string{metaPrefix + "DeleteOptions", metaPrefix + "WatchEvent"} {
		schema, used := c[name]
		if !used {
			continue
		}
		kinds := slices.DeleteFunc(slices.Collect(schema.Get(gvkExtension).Items()), func(kind value.Value) bool {
			return !keep(kind.Get("group").Str(), kind.Get("version").Str())
		})
		c[name] = schema.With(gvkExtension, value.List(kinds...))
	}
}

// typeName returns the name of a Go type in documents: io.k8s.api.core.v1.Namespace for k8s.io/api/core/v1.Namespace.
func typeName(t reflect.Type) string {
	host, path, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(host, ".")
	slices.Reverse(parts)
	return strings.Join(parts, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

func reference(name string) value.Value { return object("$ref", value.String(refPrefix+name)) }

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

// texts returns a list of strings, absent if there are none.
func texts(list ...string) value.Value {
	if len(list) == 0 {
		return value.Value{}
	}
	items := make([]value.Value, len(list))
	for i, s := range list {
		items[i] = value.String(s)
	}
	return value.List(items...)
}

// text returns a string, absent if it is empty.
func text(s string) value.Value {
	if s == "" {
		return value.Value{}
	}
	return value.String(s)
}
