package cli

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// definedBy returns the CustomResourceDefinitions in the named files and directories, whatever else is in there. It reports
// what cannot be read, and names that lead to none, and whether all is well.
func (c *library) definedBy(names []string) (definitions []*object, ok bool) {
	before := c.problems
	for _, name := range names {
		unread := c.problems
		found := c.objectsOnly(isDefinition, c.read([]string{name}, true))
		if len(found) == 0 && c.problems == unread {
			c.problem(inFile(name), "no CustomResourceDefinition of apiextensions.k8s.io/v1 in here")
		}
		definitions = append(definitions, found...)
	}
	return definitions, c.problems == before
}

func isDefinition(v value.Value) bool {
	return v.Get("apiVersion").Str() == "apiextensions.k8s.io/v1" && v.Get("kind").Str() == "CustomResourceDefinition"
}

// definitions returns the source of the types that the CustomResourceDefinitions among objects define. They are converted
// when they are needed first. Of two definitions of one kind, the first counts.
func (c *library) definitions(objects []*object) source {
	defined := map[groupKind]*object{}
	for _, o := range objects {
		if !isDefinition(o.Content) {
			continue
		}
		id := groupKind{o.Content.At("spec", "group").Str(), o.Content.At("spec", "names", "kind").Str()}
		if defined[id] == nil {
			defined[id] = o
		}
	}
	converted := map[groupKind]kindTypes{}
	return func(gvk schema.GVK) (kindTypes, bool) {
		id := groupKind{gvk.Group, gvk.Kind}
		if defined[id] == nil {
			return kindTypes{}, false
		}
		found, ok := converted[id]
		if !ok {
			found = c.definition(defined[id], id)
			converted[id] = found
		}
		return found, true
	}
}

// definition returns the types that the CustomResourceDefinition o defines for the kind id. It reports what is wrong with it.
func (c *library) definition(o *object, id groupKind) kindTypes {
	definitions, err := openapi.CRD(o.Content)
	if err != nil {
		eachError(err, func(err error) { c.problem(schemaPlace(o, err), "%v", err) })
		return kindTypes{unusable: o}
	}
	catalog, err := definitions.Catalog()
	eachError(err, func(err error) { c.warn(o.at(), "%v", err) })
	kind, _ := catalogSource(catalog, fmt.Sprintf("defined at %v", o.at()))(schema.GVK{Group: id.group, Kind: id.kind})
	kind.status = withStatus(o.Content)
	kind.renamed = o.Content.At("spec", "conversion", "strategy").Str() != "Webhook"
	kind.warn = func(version string) {
		for _, warning := range definitions.Warnings {
			if e := (*openapi.SchemaError)(nil); !errors.As(warning, &e) || e.Version == version {
				c.warn(schemaPlace(o, warning), "%v; objects of this version count as having no schema", warning)
			}
		}
	}
	return kind
}

// schemaPlace returns the position in o, a CustomResourceDefinition, that err is about.
func schemaPlace(o *object, err error) position {
	var e *openapi.SchemaError
	if !errors.As(err, &e) {
		return o.at()
	}
	var path []any
	for _, step := range strings.FieldsFunc(e.Path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		if i, err := strconv.Atoi(step); err == nil && valueAt(o.Content, path).Kind() == value.KindList {
			path = append(path, i)
			continue
		}
		if valueAt(o.Content, path).Get(step).IsAbsent() {
			break
		}
		path = append(path, step)
	}
	return o.key(path...)
}

// publishedBy returns the source of the types in the named OpenAPI documents. It reports documents that cannot be used, and
// whether all is well.
func (c *library) publishedBy(names []string) (source, bool) {
	catalog, ok := c.catalogOf(names)
	return catalogSource(catalog, "published in "+strings.Join(names, " and ")), ok
}

// catalogOf returns the types in the named OpenAPI documents, and reports what publishedBy reports.
func (c *library) catalogOf(names []string) (*schema.Catalog, bool) {
	catalog := schema.NewCatalog(nil)
	definitions, ok := c.published(names)
	for _, d := range definitions {
		types, err := d.Catalog()
		eachError(err, func(err error) { c.warn(inFile(d.where), "%v", err) })
		catalog = catalog.Merge(types)
	}
	return catalog, ok
}

// publication is what one or several OpenAPI documents define.
type publication struct {
	*openapi.Definitions
	where string
}

// published returns what the named OpenAPI documents define. It reports documents that cannot be used, and whether all is
// well. All documents of v3 are read as one schema, because each has only one API group.
func (c *library) published(names []string) (all []publication, ok bool) {
	before := c.problems
	add := func(where string, d *openapi.Definitions, err error) {
		eachError(err, func(err error) { c.problem(inFile(where), "%v", err) })
		if err == nil {
			all = append(all, publication{d, where})
		}
	}
	var v3 [][]byte
	var v3Names []string
	for _, t := range c.read(names, true) {
		switch version, data := c.openAPIVersion(t); version {
		case 2:
			d, err := openapi.V2(data)
			add(t.name, d, err)
		case 3:
			v3, v3Names = append(v3, data), append(v3Names, t.name)
		}
	}
	if len(v3) > 0 {
		d, err := openapi.V3(v3...)
		add(strings.Join(v3Names, " "), d, err)
	}
	return all, c.problems == before
}

// openAPIVersion returns 2 or 3 with the document that t is in JSON, and reports it when t is neither.
func (c *library) openAPIVersion(t *text) (version int, document []byte) {
	docs, err := yaml.Parse(t.name, t.data)
	if err != nil {
		c.parseProblem(err)
		return 0, nil
	}
	if len(docs) == 1 {
		v := docs[0].Value
		document = t.data
		if !bytes.HasPrefix(bytes.TrimLeft(t.data, " \t\r\n"), []byte("{")) {
			document = v.AppendJSON(nil)
		}
		switch {
		case strings.HasPrefix(v.Get("swagger").Str(), "2."):
			return 2, document
		case strings.HasPrefix(v.Get("openapi").Str(), "3."):
			return 3, document
		}
	}
	c.problem(inFile(t.name), `no OpenAPI document: it says neither "swagger": "2.0" nor "openapi": "3.0.0"`)
	return 0, nil
}

// typeIn returns the type called name in the schema file. It reports what is wrong, and whether all is well.
func (c *library) typeIn(file, name string) (*schema.Type, bool) {
	before := c.problems
	var docs []yaml.Document
	for _, t := range c.read([]string{file}, false) {
		var err error
		if docs, err = yaml.Parse(t.name, t.data); err != nil {
			c.parseProblem(err)
		} else if len(docs) != 1 {
			c.problem(inFile(t.name), "expected one document, the schema, but there are %d", len(docs))
		}
	}
	if c.problems != before || len(docs) != 1 {
		return nil, false
	}
	document, err := schema.ParseDocument(docs[0].Value)
	if err != nil {
		eachError(err, func(err error) { c.problem(inSchema(origin{file: file, doc: docs[0]}, err), "%v", err) })
		return nil, false
	}
	compiled, err := schema.Compile(document)
	eachError(err, func(err error) { c.problem(inFile(file), "%v", err) })
	t, ok := compiled.Type(name)
	if !ok {
		hint := ""
		if meant := nearest(name, compiled.Names()); meant != "" {
			hint = fmt.Sprintf("; did you mean %q?", meant)
		}
		c.problem(inFile(file), "no type %q in this schema%s", name, hint)
	}
	return t, ok && err == nil
}

// inSchema returns the position in o, a schema document, that err is about.
func inSchema(o origin, err error) position {
	var e *schema.DocumentError
	if !errors.As(err, &e) {
		return o.at()
	}
	path, err := fieldpath.ParsePath(e.Path)
	if err != nil {
		return o.at()
	}
	return o.key(steps(o.doc.Value, path)...)
}

// sortedVersions returns the names of all versions in several maps.
func sortedVersions(all []versions) []string {
	var names []string
	for _, v := range all {
		names = slices.AppendSeq(names, maps.Keys(v))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
