package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/builtin"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// schemaFile is a schema in any of the forms that there are.
type schemaFile struct {
	document *schema.Document // nil for what is built in
	kinds    []openapi.Kind   // that types of the document are for
	types    map[string]*schema.Type
	catalog  *schema.Catalog
}

// builtinName stands on the command line for the schema that is built in.
const builtinName = "builtin"

// schemaIn reads the schema in the named file: CustomResourceDefinitions, an OpenAPI document, or a schema of
// structured-merge-diff. It reports what is wrong and returns nil then.
func schemaIn(c *library, name string) *schemaFile {
	if name == builtinName {
		return builtinSchema()
	}
	before := c.problems
	texts := c.read([]string{name}, true)
	c.parse(texts)
	var first value.Value
	for _, t := range texts {
		for _, p := range t.parts {
			if p.err != nil {
				c.parseProblem(p.err)
			}
			for _, doc := range p.docs {
				if first.IsAbsent() {
					first = doc.Value
				}
			}
		}
	}
	if c.problems != before {
		return nil
	}
	var f *schemaFile
	switch {
	case !first.Get("swagger").IsAbsent() || !first.Get("openapi").IsAbsent():
		f = openAPIFile(c, name)
	case first.Get("types").Kind() == value.KindList:
		f = documentFile(c, name)
	default:
		f = definitionsFile(c, name)
	}
	if c.problems != before {
		return nil
	}
	return f
}

// builtinSchema returns the schema that is built in.
func builtinSchema() *schemaFile {
	f := &schemaFile{catalog: builtin.Catalog(), types: map[string]*schema.Type{}}
	for _, t := range f.catalog.Kinds() {
		eachType(t, func(t *schema.Type) { f.types[t.Name()] = t })
	}
	return f
}

func openAPIFile(c *library, name string) *schemaFile {
	f := &schemaFile{document: &schema.Document{}}
	definitions, _ := c.published([]string{name})
	for _, d := range definitions {
		f.document.Types = append(f.document.Types, d.Document.Types...)
		f.kinds = append(f.kinds, d.Kinds...)
	}
	compile(c, name, f)
	return f
}

func definitionsFile(c *library, name string) *schemaFile {
	f := &schemaFile{document: &schema.Document{}}
	definitions, _ := c.definedBy([]string{name})
	for _, o := range definitions {
		d, err := openapi.CRD(o.Content)
		if err != nil {
			eachError(err, func(err error) { c.problem(schemaPlace(o, err), "%v", err) })
			continue
		}
		for _, w := range d.Warnings {
			c.warn(schemaPlace(o, w), "%v; objects of this version count as having no schema", w)
		}
		for _, t := range d.Document.Types { // the types of object metadata are in all of them
			if !slices.ContainsFunc(f.document.Types, func(u schema.TypeDef) bool { return u.Name == t.Name }) {
				f.document.Types = append(f.document.Types, t)
			}
		}
		f.kinds = append(f.kinds, d.Kinds...)
	}
	compile(c, name, f)
	return f
}

func documentFile(c *library, name string) *schemaFile {
	f := &schemaFile{document: &schema.Document{}}
	for _, t := range c.read([]string{name}, false) {
		docs, err := yaml.Parse(t.name, t.data)
		switch {
		case err != nil:
			c.parseProblem(err)
		case len(docs) != 1:
			c.problem(inFile(t.name), "expected one document, the schema, but there are %d", len(docs))
		default:
			d, err := schema.ParseDocument(docs[0].Value)
			eachError(err, func(err error) { c.problem(inSchema(origin{file: name, doc: docs[0]}, err), "%v", err) })
			if err == nil {
				f.document = d
			}
		}
	}
	compile(c, name, f)
	return f
}

// compile resolves the document of f.
func compile(c *library, name string, f *schemaFile) {
	compiled, err := schema.Compile(f.document)
	eachError(err, func(err error) { c.warn(inFile(name), "%v", err) })
	f.types = map[string]*schema.Type{}
	for _, n := range compiled.Names() {
		f.types[n], _ = compiled.Type(n)
	}
	kinds := map[schema.GVK]*schema.Type{}
	for _, k := range f.kinds {
		if t, ok := f.types[k.Type]; ok {
			kinds[k.GVK] = t
		}
	}
	f.catalog = schema.NewCatalog(kinds)
}

// roots returns the types that objects have, by the name of their kind, or all types of a schema that knows no kinds.
func (f *schemaFile) roots() map[string]*schema.Type {
	out := map[string]*schema.Type{}
	for gvk, t := range f.catalog.Kinds() {
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
