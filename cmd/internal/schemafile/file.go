// Package schemafile reads schemas from files in all supported forms, compares two schemas, and converts one to another form.
package schemafile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/types"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// File is a schema in any supported form.
type File struct {
	Document *schema.Document // nil for the built-in schema
	kinds    []openapi.Kind   // the kinds with types in the document
	types    map[string]*schema.Type
	Catalog  *schema.Catalog
	isV2     bool // whether it is an OpenAPI document of v2, which has no defaults
}

// BuiltinName names the built-in schema on the command line.
const BuiltinName = "builtin"

// Read reads the schema in the named file: CustomResourceDefinitions, an OpenAPI document, or a schema of structured-merge-diff. It reports
// defects, and returns nil then.
func Read(c *types.Library, name string) *File {
	if name == BuiltinName {
		return builtinSchema()
	}
	before := c.Problems
	texts := c.Read([]string{name}, true)
	c.Parse(texts)
	var first value.Value
	for _, t := range texts {
		for _, p := range t.Parts {
			if p.Err != nil {
				c.ParseProblem(p.Err)
			}
			for _, doc := range p.Docs {
				if first.IsAbsent() {
					first = doc.Value
				}
			}
		}
	}
	if c.Problems != before {
		return nil
	}
	var f *File
	switch {
	case !first.Get("swagger").IsAbsent() || !first.Get("openapi").IsAbsent():
		f = openAPIFile(c, name)
		f.isV2 = !first.Get("swagger").IsAbsent()
	case first.Get("types").Kind() == value.KindList:
		f = documentFile(c, name)
	default:
		f = definitionsFile(c, name)
	}
	if c.Problems != before {
		return nil
	}
	return f
}

// builtinSchema returns the built-in schema.
func builtinSchema() *File {
	f := &File{Catalog: builtin.Catalog(), types: map[string]*schema.Type{}}
	for _, t := range f.Catalog.Kinds() {
		types.EachType(t, func(t *schema.Type) { f.types[t.Name()] = t })
	}
	return f
}

func openAPIFile(c *types.Library, name string) *File {
	f := &File{Document: &schema.Document{}}
	definitions, _ := c.Published([]string{name})
	for _, d := range definitions {
		f.Document.Types = append(f.Document.Types, d.Document.Types...)
		f.kinds = append(f.kinds, d.Kinds...)
	}
	compile(c, name, f)
	return f
}

func definitionsFile(c *types.Library, name string) *File {
	f := &File{Document: &schema.Document{}}
	definitions, _ := c.DefinedBy([]string{name})
	for _, o := range definitions {
		d, ok := c.Definition(o)
		if !ok {
			continue
		}
		for _, t := range d.Document.Types { // all documents contain the types of object metadata
			if !slices.ContainsFunc(f.Document.Types, func(u schema.TypeDef) bool { return u.Name == t.Name }) {
				f.Document.Types = append(f.Document.Types, t)
			}
		}
		f.kinds = append(f.kinds, d.Kinds...)
	}
	compile(c, name, f)
	return f
}

func documentFile(c *types.Library, name string) *File {
	f := &File{Document: &schema.Document{}}
	for _, t := range c.Read([]string{name}, false) {
		docs, err := yaml.Parse(t.Name, t.Data)
		switch {
		case err != nil:
			c.ParseProblem(err)
		case len(docs) != 1:
			c.Problem(notice.InFile(t.Name), "expected one document, the schema, but there are %d", len(docs))
		default:
			d, err := schema.ParseDocument(docs[0].Value)
			notice.EachError(err, func(err error) {
				c.Problem(types.PlaceInSchema(manifest.Origin{File: name, Doc: docs[0]}, err), "%s", secret.Open.Error(err))
			})
			if err == nil {
				f.Document = d
			}
		}
	}
	compile(c, name, f)
	return f
}

// compile resolves the document of f.
func compile(c *types.Library, name string, f *File) {
	compiled, err := schema.Compile(f.Document)
	notice.EachError(err, func(err error) { c.Warn(notice.InFile(name), "%s", secret.Open.Error(err)) })
	f.types = compiled
	kinds := map[schema.GVK]*schema.Type{}
	for _, k := range f.kinds {
		if t, ok := f.types[k.Type]; ok {
			kinds[k.GVK] = t
		}
	}
	f.Catalog = schema.NewCatalog(kinds)
}

// roots returns the types of objects by the name of their kind, or all types of a schema without kinds.
func (f *File) roots() map[string]*schema.Type {
	out := map[string]*schema.Type{}
	for gvk, t := range f.Catalog.Kinds() {
		out[gvk.APIVersion()+" "+gvk.Kind] = t
	}
	if len(out) > 0 {
		return out
	}
	for name, t := range f.types {
		if !strings.HasPrefix(name, "__untyped") {
			out[fmt.Sprintf("type %q", name)] = t
		}
	}
	return out
}
