package types

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/secret"
	"github.com/deed-project/deed/cmd/internal/wording"
	"github.com/deed-project/deed/fieldpath"
	"github.com/deed-project/deed/internal/yaml"
	"github.com/deed-project/deed/schema"
	"github.com/deed-project/deed/schema/openapi"
	"github.com/deed-project/deed/value"
)

// CatalogOf returns the types in the named OpenAPI documents. It reports unusable documents, and then returns false.
func (c *Library) CatalogOf(names []string) (*schema.Catalog, bool) {
	catalog := schema.NewCatalog(nil)
	definitions, ok := c.Published(names)
	for _, d := range definitions {
		types, err := d.Catalog()
		notice.EachError(err, func(err error) { c.Warn(notice.InFile(d.where), "%s", secret.Open.Error(err)) })
		catalog = catalog.Merge(types)
	}
	return catalog, ok
}

// publication holds the definitions of one or several OpenAPI documents.
type publication struct {
	*openapi.Definitions
	where string
}

// Published returns the definitions of the named OpenAPI documents. It reports unusable documents, and then returns false. It reads all v3
// documents as one schema, because each has only one API group.
func (c *Library) Published(names []string) (all []publication, ok bool) {
	before := c.Problems
	add := func(where string, d *openapi.Definitions, err error) {
		notice.EachError(err, func(err error) { c.Problem(notice.InFile(where), "%s", secret.Open.Error(err)) })
		if err == nil {
			all = append(all, publication{d, where})
		}
	}
	var v3 [][]byte
	var v3Names []string
	for _, t := range c.Read(names, true) {
		switch version, doc, data := c.openAPIVersion(t); version {
		case 2:
			c.warnOfKeys(t.Name, doc)
			d, err := openapi.V2(data)
			add(t.Name, d, err)
		case 3:
			v3, v3Names = append(v3, data), append(v3Names, t.Name)
		}
	}
	if len(v3) > 0 {
		d, err := openapi.V3(v3...)
		add(strings.Join(v3Names, " "), d, err)
	}
	return all, c.Problems == before
}

// openAPIVersion returns the version of the document t, 2 or 3, with its content and its JSON. It reports other documents, and returns 0.
func (c *Library) openAPIVersion(t *manifest.Text) (version int, doc value.Value, text []byte) {
	docs, err := yaml.Parse(t.Name, t.Data)
	if err != nil {
		c.ParseProblem(err)
		return 0, doc, nil
	}
	if len(docs) == 1 {
		doc, text = docs[0].Value, t.Data
		if !bytes.HasPrefix(bytes.TrimLeft(t.Data, " \t\r\n"), []byte("{")) {
			text = doc.AppendJSON(nil)
		}
		c.Secrets.LearnOpenAPI(doc)
		switch {
		case strings.HasPrefix(doc.Get("swagger").Str(), "2."):
			return 2, doc, text
		case strings.HasPrefix(doc.Get("openapi").Str(), "3."):
			return 3, doc, text
		}
	}
	c.Problem(notice.InFile(t.Name), `no OpenAPI document: it says neither "swagger": "2.0" nor "openapi": "3.0.0"`)
	return 0, doc, nil
}

// TypeIn returns the type called name in the schema file. It reports defects, and then returns false.
func (c *Library) TypeIn(file, name string) (*schema.Type, bool) {
	before := c.Problems
	var docs []yaml.Document
	for _, t := range c.Read([]string{file}, false) {
		var err error
		if docs, err = yaml.Parse(t.Name, t.Data); err != nil {
			c.ParseProblem(err)
		} else if len(docs) != 1 {
			c.Problem(notice.InFile(t.Name), "expected one document, the schema, but there are %d", len(docs))
		}
	}
	if c.Problems != before || len(docs) != 1 {
		return nil, false
	}
	document, err := schema.ParseDocument(docs[0].Value)
	if err != nil {
		notice.EachError(err, func(err error) {
			c.Problem(PlaceInSchema(manifest.Origin{File: file, Doc: docs[0]}, err), "%s", secret.Open.Error(err))
		})
		return nil, false
	}
	compiled, err := schema.Compile(document)
	notice.EachError(err, func(err error) { c.Problem(notice.InFile(file), "%s", secret.Open.Error(err)) })
	t, ok := compiled[name]
	if !ok {
		hint := ""
		if meant := wording.Nearest(name, slices.Sorted(maps.Keys(compiled))); meant != "" {
			hint = fmt.Sprintf("; did you mean %q?", meant)
		}
		c.Problem(notice.InFile(file), "no type %q in this schema%s", name, hint)
	}
	return t, ok && err == nil
}

// PlaceInSchema returns the position of err in the schema document o.
func PlaceInSchema(o manifest.Origin, err error) notice.Position {
	var e *schema.Error
	if !errors.As(err, &e) {
		return o.At()
	}
	path, err := fieldpath.ParsePath(e.Path)
	if err != nil {
		return o.At()
	}
	return o.Key(manifest.Steps(o.Doc.Value, path)...)
}

// sortedVersions returns the sorted names of all versions in all, without duplicates.
func sortedVersions(all []versions) []string {
	var names []string
	for _, v := range all {
		names = slices.AppendSeq(names, maps.Keys(v))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// everyKind returns a source with the same type for every kind.
func everyKind(t *schema.Type, from string) source {
	return func(gvk schema.GVK) (kindTypes, bool) {
		return kindTypes{From: from, Versions: versions{gvk.APIVersion(): t}}, true
	}
}

// catalogSource returns the source of the types in catalog.
func catalogSource(catalog *schema.Catalog, from string) source {
	kinds := map[groupKind]versions{}
	for gvk, t := range catalog.Kinds() {
		id := groupKind{gvk.Group, gvk.Kind}
		if kinds[id] == nil {
			kinds[id] = versions{}
		}
		kinds[id][gvk.APIVersion()] = t
	}
	return func(gvk schema.GVK) (kindTypes, bool) {
		found, ok := kinds[groupKind{gvk.Group, gvk.Kind}]
		return kindTypes{From: from, Versions: found}, ok
	}
}
